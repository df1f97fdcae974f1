// Errors are values: Result<T> is a T or a Diagnostic, Status is success or a Diagnostic.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "host/ir/diagnostic.hpp"

namespace gantry {

/// Success, or one Diagnostic. Cheap to return: success is a null pointer.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Diagnostic d) : error_(std::make_unique<Diagnostic>(std::move(d))) {}  // NOLINT: conversion is the point

  bool ok() const { return error_ == nullptr; }
  explicit operator bool() const { return ok(); }
  /// Only when !ok().
  const Diagnostic& error() const { return *error_; }
  Diagnostic take_error() { return std::move(*error_); }

 private:
  std::unique_ptr<Diagnostic> error_;
};

/// A T, or one Diagnostic.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}    // NOLINT: conversion is the point
  Result(Diagnostic d) : status_(std::move(d)) {}  // NOLINT
  Result(Status s) : status_(std::move(s)) {}      // NOLINT: s must hold an error

  bool ok() const { return status_.ok(); }
  explicit operator bool() const { return ok(); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Diagnostic& error() const { return status_.error(); }
  Diagnostic take_error() { return status_.take_error(); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace gantry

#define GANTRY_CONCAT_(a, b) a##b
#define GANTRY_CONCAT(a, b) GANTRY_CONCAT_(a, b)

/// Returns the error of a Status or Result from the enclosing function.
#define GANTRY_TRY(expr)                                                                        \
  do {                                                                                          \
    if (auto gantry_status_ = (expr); !gantry_status_.ok()) return gantry_status_.take_error(); \
  } while (false)

/// `GANTRY_ASSIGN(auto x, f());` is x = *f(), or returns f's error.
#define GANTRY_ASSIGN(lhs, expr) GANTRY_ASSIGN_(GANTRY_CONCAT(gantry_result_, __LINE__), lhs, expr)
#define GANTRY_ASSIGN_(tmp, lhs, expr)    \
  auto tmp = (expr);                      \
  if (!tmp.ok()) return tmp.take_error(); \
  lhs = *std::move(tmp)
