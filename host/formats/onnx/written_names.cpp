#include "host/formats/onnx/written_names.hpp"

namespace gantry::onnx_format {

WrittenNames::WrittenNames(const Graph& g) : g_(g) {
  main_ports();
  for (std::uint32_t i = 1; i < g.value_slots(); ++i) {
    const ValueId v{i};
    if (g.contains(v) && !values_.contains(v)) values_.emplace(v, unique(std::string(g.value(v).name)));
  }
  for (const RegionId r : g.regions())
    if (r != g.main()) inner_outputs(r);
}

// The names of inputs and outputs are the model's interface: they come first.
void WrittenNames::main_ports() {
  const Region& main = g_.region(g_.main());
  for (std::size_t i = 0; i < main.inputs.size(); ++i) {
    taken_.insert(main.input_names[i]);
    values_[main.inputs[i]] = main.input_names[i];
  }
  std::vector<std::string>& outputs = outputs_[g_.main()];
  for (const Output& o : main.outputs) {
    const Value& v = g_.value(o.value);
    const NodeId maker = v.producer;
    const bool own = maker && g_.node(maker).region == g_.main() && !values_.contains(o.value);
    if (own) values_[o.value] = o.name;
    // An input that the source names as an output passes as it is.
    const auto known = values_.find(o.value);
    const bool direct = own || (!maker && known != values_.end() && known->second == o.name);
    outputs.push_back(direct || !taken_.contains(o.name) ? o.name : unique(o.name));
    taken_.insert(outputs.back());
  }
}

void WrittenNames::inner_outputs(RegionId r) {
  std::vector<std::string>& outputs = outputs_[r];
  std::unordered_set<ValueId> seen;
  for (const Output& o : g_.region(r).outputs) {
    const NodeId maker = g_.value(o.value).producer;
    const bool own = maker && g_.node(maker).region == r && seen.insert(o.value).second;
    outputs.push_back(own ? value(o.value) : unique(o.name));
  }
}

const std::string& WrittenNames::value(ValueId v) const {
  static const std::string omitted;
  return v ? values_.at(v) : omitted;
}

std::string WrittenNames::unique(std::string wanted) {
  if (taken_.insert(wanted).second) return wanted;
  for (int& n = suffix_[wanted];;) {
    std::string name = wanted + "_" + std::to_string(++n);
    if (taken_.insert(name).second) return name;
  }
}

std::string WrittenNames::node(const Node& n) {
  std::string wanted(n.name);
  for (std::size_t i = 0; wanted.empty() && i < n.outputs.size(); ++i) wanted = value(n.outputs[i]);
  if (nodes_.insert(wanted).second) return wanted;
  for (int& k = suffix_["node " + wanted];;) {
    std::string name = wanted + "_" + std::to_string(++k);
    if (nodes_.insert(name).second) return name;
  }
}

}  // namespace gantry::onnx_format
