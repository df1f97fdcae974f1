// What the ONNX library knows of operators.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace onnx {
class OpSchema;
}

namespace gantry::onnx_format {

/// "ai.onnx" and "" are one domain; Gantry writes "".
std::string_view plain_domain(std::string_view domain);
/// "ai.onnx" for messages.
std::string_view shown_domain(std::string_view domain);
/// Newest version of the domain that the library knows; 0 for a domain that is not ONNX's.
int newest_opset(std::string_view domain);

/// Makes the schemas that are asked for, and keeps them. Single-threaded, as graphs are.
class Schemas {
 public:
  Schemas();
  ~Schemas();
  Schemas(const Schemas&) = delete;
  Schemas& operator=(const Schemas&) = delete;

  /// The form of the operator in this version of its domain, null if the library has none.
  const onnx::OpSchema* find(std::string_view domain, std::string_view name, int version) const;
  /// The newest form, null if the library does not know the operator.
  const onnx::OpSchema* newest(std::string_view domain, std::string_view name) const;

 private:
  struct Key {
    std::string domain, name;
    int version;
  };
  struct View {
    std::string_view domain, name;
    int version;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const View& v) const;
    std::size_t operator()(const Key& k) const { return (*this)(View{k.domain, k.name, k.version}); }
  };
  struct Equal {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return a.version == b.version && a.name == b.name && a.domain == b.domain;
    }
  };

  const onnx::OpSchema* look_up(const Key& key) const;

  mutable std::unordered_map<Key, const onnx::OpSchema*, Hash, Equal> found_;
  mutable std::map<const void*, std::unique_ptr<const onnx::OpSchema>> made_;  // by the row of the table
};

}  // namespace gantry::onnx_format
