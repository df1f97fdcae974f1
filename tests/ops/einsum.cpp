#include <gtest/gtest.h>

#include "tests/ops/table.hpp"

namespace gantry::test {
namespace {

Row einsum(const std::string& inputs, const std::string& equation, const std::string& operands,
           const std::string& weights = "") {
  return {12, inputs, weights, "y = Einsum<equation = \"" + equation + "\">(" + operands + ")", "float[] y"};
}

TEST(Einsum, OneOperand) {
  expect_equal({
      einsum("float[3,4] a", "ij->ji", "a"),
      einsum("float[3,4] a", "ij->i", "a"),
      einsum("float[3,4] a", "ij->", "a"),
      einsum("float[3,4] a", "ij", "a"),
      einsum("float[3,4] a", "ba", "a"),
      einsum("float[3,3] a", "ii->i", "a"),
      einsum("float[3,3] a", "ii", "a"),
      einsum("float[2,3,3] a", "...ii->...i", "a"),
      einsum("float[3,2,3] a", "iji->j", "a"),
      einsum("float[2,3,4] a", "...j->j...", "a"),
      einsum("float[2,3,4] a", "b...->...", "a"),
  });
}

TEST(Einsum, TwoOperands) {
  expect_equal({
      einsum("float[3] a, float[3] b", "i,i->", "a, b"),
      einsum("float[3] a, float[4] b", "i,j->ij", "a, b"),
      einsum("float[3] a, float[4] b", "i,j->ji", "a, b"),
      einsum("float[3,4] a, float[4,5] b", "ij,jk->ik", "a, b"),
      einsum("float[3,4] a, float[4,5] b", "ij,jk", "a, b"),
      einsum("float[3,4] a, float[4,5] b", "ij,jk->ki", "a, b"),
      einsum("float[4,3] a, float[5,4] b", "ji,kj->ik", "a, b"),
      einsum("float[3,4] a, float[3,4] b", "ij,ij->ij", "a, b"),
      einsum("float[3,4] a, float[4] b", "ij,j->ij", "a, b"),
      einsum("float[3,4] a, float[4] b", "ij,j->i", "a, b"),
      einsum("float[2,3,4] a, float[2,4,5] b", "bij,bjk->bik", "a, b"),
      einsum("float[2,3,4] a, float[2,4,5] b", "...ij,...jk->...ik", "a, b"),
      einsum("float[2,3,4] a, float[4,5] b", "...ij,jk->...ik", "a, b"),
      einsum("float[2,1,3,4] a, float[2,6,4,5] b", "...ij,...jk->...ik", "a, b"),
      einsum("float[2,3,4,5] a, float[2,6,3] b", "bchw,bnc->bnhw", "a, b"),
      einsum("float[2,5,3,4] a, float[2,6,3,4] b", "bihd,bjhd->bhij", "a, b"),
      einsum("float[2,3,5,6] a, float[2,6,3,4] b", "bhij,bjhd->bihd", "a, b"),
      einsum("float[2,3,4] a, float[5,3,4] b", "bij,kij->bk", "a, b"),
      einsum("float[2,3,4] a, float[2,3,4] b", "bij,bij->b", "a, b"),
      einsum("float[2,3,4] a, float[3,5] b", "abc,bd->a", "a, b"),
      einsum("float[3,3] a, float[3,4] b", "ii,ij->j", "a, b"),
      einsum("float[2,3,4] a", "bij,jk->bik", "a, w", "w=4,5"),
      einsum("float[2,3,4] a", "bij,kj->bik", "a, w", "w=5,4"),
      einsum("float[2,3,4] a", "jk,bij->bik", "w, a", "w=4,5"),
      einsum("float[2,3,4] a", "bij,jhd->bihd", "a, w", "w=4,2,5"),
      einsum("float[2,3,4,5] a", "bihd,hdo->bio", "a, w", "w=4,5,6"),
  });
}

TEST(Einsum, MoreOperands) {
  expect_equal({
      einsum("float[3,4] a, float[4,5] b, float[5,2] c", "ij,jk,kl->il", "a, b, c"),
      einsum("float[3,4] a, float[4,5] b, float[3,5] c", "ij,jk,ik->", "a, b, c"),
      einsum("float[3] a, float[4] b, float[5] c", "i,j,k->kji", "a, b, c"),
      einsum("float[2,3] a, float[2,4] b, float[3,4,5] c", "bn,bm,nmo->bo", "a, b, c"),
      einsum("float[2,3] a, float[2,3] b, float[2,3] c", "ij,ij,ij->i", "a, b, c"),
  });
}

TEST(Einsum, Integers) {
  expect_equal({
      {12, "int32[3,4] a, int32[4,5] b", "", "y = Einsum<equation = \"ij,jk->ik\">(a, b)", "int32[] y"},
      {12, "int64[3,4] a", "", "y = Einsum<equation = \"ij->j\">(a)", "int64[] y"},
  });
}

TEST(Einsum, UnknownSizes) {
  expect_equal({
      einsum("float[B,S,4,8] q, float[B,T,4,8] k", "bshd,bthd->bhst", "q, k"),
      einsum("float[B,S,8] x", "bsi,ihd->bshd", "x, w", "w=8,2,3"),
      einsum("float[B,S,8] x, float[B,8,T] k", "...ij,...jk->...ik", "x, k"),
  });
}

TEST(Einsum, WhatDoesNotFitIsRefused) { expect_refused({einsum("float[N,N] a", "ii->i", "a")}, "diagonal"); }

}  // namespace
}  // namespace gantry::test
