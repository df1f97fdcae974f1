// TfIdfVectorizer over numbers: how often each n-gram of the pool occurs, by comparing every window with every n-gram.
// Operator: ONNX operator specification, TfIdfVectorizer.
#include <algorithm>

#include "floats.hpp"

namespace core_ops {
namespace {

/// n-grams of one length: their numbers, and the columns of the result that they belong to.
struct Grams {
  std::int64_t length = 1;
  Dims pool, columns;
  std::int64_t count() const { return static_cast<std::int64_t>(columns.size()); }
};

std::vector<Grams> read_grams(const Node& node) {
  decline_if(node.has_attr("pool_strings"), "a pool of strings");
  const Dims pool = node.attr<Dims>("pool_int64s"), starts = node.attr<Dims>("ngram_counts"),
             columns = node.attr<Dims>("ngram_indexes");
  std::vector<Grams> all;
  std::size_t column = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Grams g;
    g.length = static_cast<std::int64_t>(i) + 1;
    const std::int64_t from = starts[i];
    const std::int64_t end = i + 1 < starts.size() ? starts[i + 1] : static_cast<std::int64_t>(pool.size());
    decline_if(from < 0 || end < from || end > static_cast<std::int64_t>(pool.size()) || (end - from) % g.length,
               "ngram_counts ", text(starts), " for a pool of ", pool.size());
    g.pool.assign(pool.begin() + from, pool.begin() + end);
    for (std::int64_t k = 0; k < (end - from) / g.length; ++k) g.columns.push_back(columns.at(column++));
    all.push_back(g);
  }
  return all;
}

/// [rows, n-grams]: occurrences in x [rows, n] with the n-gram's numbers `step` apart.
Value occurrences(const Emit& emit, const Value& x, const Grams& g, std::int64_t step) {
  const std::int64_t windows = x.dim(1) - (g.length - 1) * step;
  std::vector<std::int32_t> at;
  for (std::int64_t w = 0; w < windows; ++w)
    for (std::int64_t k = 0; k < g.length; ++k) at.push_back(static_cast<std::int32_t>(w + k * step));
  const Value index = emit.constant<std::int32_t>({windows, 1, g.length}, at);
  const Value pool = emit.reshape(emit.cast(emit.i64(g.pool), x.dtype()), {g.count(), g.length});
  const Value cut = emit.op("GATHER", {x, index}, {{"axis", 1}, {"batch_dims", 0}});
  const Value same = reduce_axes(emit, "REDUCE_ALL", emit.op("EQUAL", {cut, pool}), {3}, false);
  return reduce_axes(emit, "SUM", emit.cast(same, DType::float32), {1}, false);
}

}  // namespace

GANTRY_CONVERT(onnx, "TfIdfVectorizer", since(9), to(tflite)) {
  Value x = node.in(0);
  decline_if(x.dtype() == DType::string, "TfIdfVectorizer of strings has no TFLite operator");
  const bool vector = x.rank() == 1;
  if (vector) x = insert_axis(emit, x, 0);
  const std::int64_t n = x.dim(1);
  decline_if(n < 1, "the length of the sequence is not known; give input shapes with --shape");
  const auto shortest = node.attr<std::int64_t>("min_gram_length"),
             longest = node.attr<std::int64_t>("max_gram_length"), skips = node.attr<std::int64_t>("max_skip_count");
  const Dims columns = node.attr<Dims>("ngram_indexes");
  const std::int64_t width = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end()) + 1;
  decline_if(width < 1, "no n-grams");

  std::vector<Value> counts;
  Dims places;
  for (const Grams& g : read_grams(node)) {
    if (g.columns.empty() || g.length < shortest || g.length > longest) continue;
    Value sum;
    for (std::int64_t skip = 0; skip <= (g.length == 1 ? 0 : skips); ++skip) {
      if (n - (g.length - 1) * (skip + 1) < 1) break;
      const Value more = occurrences(emit, x, g, skip + 1);
      sum = sum ? emit.add(sum, more) : more;
    }
    if (!sum) continue;
    counts.push_back(sum);
    places.insert(places.end(), g.columns.begin(), g.columns.end());
  }
  decline_if(counts.empty(), "no n-gram fits into the sequence");

  // Columns of the result are sums of counts: one matrix of zeros and ones.
  const auto total = static_cast<std::int64_t>(places.size());
  std::vector<float> matrix(static_cast<std::size_t>(width * total), 0.0f);
  for (std::int64_t k = 0; k < total; ++k)
    matrix[static_cast<std::size_t>(places[static_cast<std::size_t>(k)] * total + k)] = 1;
  const std::vector<float> zeros(static_cast<std::size_t>(width), 0.0f);
  Value y = emit.op("FULLY_CONNECTED",
                    {concatenation(emit, counts, 1), emit.constant<float>({width, total}, matrix),
                     emit.constant<float>({width}, zeros)},
                    {{"keep_num_dims", true}, {"weights_format", "DEFAULT"}, no_activation()});
  const std::string mode = node.attr<std::string>("mode");
  decline_if(mode != "TF" && mode != "IDF" && mode != "TFIDF", "mode '", mode, "'");
  if (mode == "IDF") y = emit.minimum(y, 1);
  if (mode != "TF" && node.has_attr("weights")) {
    const auto given = node.attr<std::vector<float>>("weights");
    std::vector<float> weights(static_cast<std::size_t>(width), 0.0f);
    decline_if(given.size() != columns.size(), given.size(), " weights for ", columns.size(), " n-grams");
    for (std::size_t i = 0; i < given.size(); ++i) weights[static_cast<std::size_t>(columns[i])] = given[i];
    y = emit.mul(y, emit.constant<float>({width}, weights));
  }
  return vector ? remove_axis(emit, y, 0) : y;
}

}  // namespace core_ops
