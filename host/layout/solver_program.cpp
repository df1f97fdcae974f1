// The model as an integer program over its local polytope: x[v,a] = 1 if variable v has label a, y[u,v,a,b] = 1 if u
// has a and v has b, for the pairs that are allowed.
//
//   sum_a x[v,a] = 1        sum_b y[u,v,a,b] = x[u,a]        sum_a y[u,v,a,b] = x[v,b]
//
// Only x has to be integer: y follows. The relaxation of this form is the strongest of the usual ones, and for layout
// it is nearly always integral.
//
// HiGHS is found when the program runs, so that nothing depends on it; what is used of its C interface is declared
// here. One thread and a fixed seed make it deterministic, unless the time runs out.
#include "host/layout/solver_program.hpp"

#include <cmath>
#include <dlfcn.h>

namespace gantry::layout::solver {

using HighsInt = int;  // checked against the library when it is opened

struct Highs::Api {
  HighsInt (*sizeof_int)(const void*);
  void* (*create)();
  void (*destroy)(void*);
  HighsInt (*set_bool)(void*, const char*, HighsInt);
  HighsInt (*set_int)(void*, const char*, HighsInt);
  HighsInt (*set_double)(void*, const char*, double);
  HighsInt (*set_string)(void*, const char*, const char*);
  HighsInt (*pass_mip)(void*, HighsInt columns, HighsInt rows, HighsInt entries, HighsInt format, HighsInt sense,
                       double offset, const double* cost, const double* lower, const double* upper,
                       const double* row_lower, const double* row_upper, const HighsInt* start, const HighsInt* index,
                       const double* value, const HighsInt* integrality);
  HighsInt (*run)(void*);
  HighsInt (*model_status)(const void*);
  HighsInt (*get_solution)(const void*, double* column, double* column_dual, double* row, double* row_dual);
  HighsInt (*get_double)(const void*, const char*, double*);
};

namespace {

constexpr HighsInt kError = -1, kByRows = 2, kMinimize = 1, kInteger = 1;
constexpr HighsInt kOptimal = 7, kInfeasible = 8, kUnboundedOrInfeasible = 9;
constexpr std::size_t kMostEntries = 4'000'000;  // of the matrix
constexpr double kTolerance = 1e-6;              // of HiGHS, relative to the bound
constexpr double kLargest = 1 << 20;             // cost, in the program: larger ones are scaled

template <typename F>
bool find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

/// The matrix row by row.
struct Program {
  std::vector<double> cost, lower, upper;
  std::vector<HighsInt> integrality;
  std::vector<HighsInt> start, index;
  std::vector<double> value, side;
  std::vector<std::size_t> first;  // column of a variable's first label

  HighsInt column(Cost c, bool integer) {
    cost.push_back(static_cast<double>(c));
    lower.push_back(0);
    upper.push_back(1);
    integrality.push_back(integer ? kInteger : 0);
    return static_cast<HighsInt>(cost.size() - 1);
  }
  void row(double equals) {
    start.push_back(static_cast<HighsInt>(index.size()));
    side.push_back(equals);
  }
  void entry(HighsInt column, double a) {
    index.push_back(column);
    value.push_back(a);
  }
};

void add_edge(Program& program, const Model& m, const Edge& e) {
  const std::size_t rows = m.labels(e.u), columns = m.labels(e.v);
  std::vector<HighsInt> y(e.table.size(), -1);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (e.table[i] != kForbidden) y[i] = program.column(e.table[i], false);
  }
  const auto marginal = [&](std::size_t x, std::size_t begin, std::size_t n, std::size_t step) {
    program.row(0);
    program.entry(static_cast<HighsInt>(x), -1);
    for (std::size_t i = 0; i < n; ++i) {
      if (y[begin + i * step] >= 0) program.entry(y[begin + i * step], 1);
    }
  };
  for (std::size_t a = 0; a < rows; ++a) marginal(program.first[e.u] + a, a * columns, columns, 1);
  for (std::size_t b = 0; b < columns; ++b) marginal(program.first[e.v] + b, b, rows, columns);
}

Program make_program(const Model& m) {
  Program program;
  for (const std::vector<Cost>& costs : m.unary) {
    program.first.push_back(program.cost.size());
    for (Cost c : costs) {
      const HighsInt x = program.column(c == kForbidden ? 0 : c, true);
      if (c == kForbidden) program.upper[static_cast<std::size_t>(x)] = 0;
    }
  }
  for (std::size_t v = 0; v < m.size(); ++v) {
    program.row(1);
    for (std::size_t a = 0; a < m.labels(v); ++a) program.entry(static_cast<HighsInt>(program.first[v] + a), 1);
  }
  for (const Edge& e : m.edges) add_edge(program, m, e);
  program.start.push_back(static_cast<HighsInt>(program.index.size()));
  return program;
}

/// Scales the costs so that none is above kLargest. Returns the factor.
double scale(Program& program) {
  const double most = *std::max_element(program.cost.begin(), program.cost.end());
  const double factor = most > kLargest ? kLargest / most : 1;
  for (double& c : program.cost) c *= factor;
  return factor;
}

/// A whole number that is below the true bound, as far as HiGHS' tolerances go.
Cost rounded_bound(double bound) {
  if (!(bound > 0)) return 0;
  const double safe = std::ceil(bound - kTolerance * std::max(1.0, bound));
  return safe >= static_cast<double>(kForbidden) ? kForbidden - 1 : static_cast<Cost>(std::max(0.0, safe));
}

/// The label of each variable whose column is largest.
std::vector<Label> read_labels(const Program& program, const Model& m, const std::vector<double>& x) {
  std::vector<Label> label;
  for (std::size_t v = 0; v < m.size(); ++v) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(program.first[v]);
    const auto end = begin + static_cast<std::ptrdiff_t>(m.labels(v));
    label.push_back(static_cast<Label>(std::max_element(begin, end) - begin));
  }
  return label;
}

}  // namespace

Highs::Highs(std::unique_ptr<Api> api) : api_(std::move(api)) {}
Highs::~Highs() = default;

std::unique_ptr<Highs> Highs::open(const std::string& path) {
  if (path.empty()) return nullptr;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return nullptr;
  auto api = std::make_unique<Api>();
  const bool all =
      find(library, "Highs_getSizeofHighsInt", api->sizeof_int) && find(library, "Highs_create", api->create) &&
      find(library, "Highs_destroy", api->destroy) && find(library, "Highs_setBoolOptionValue", api->set_bool) &&
      find(library, "Highs_setIntOptionValue", api->set_int) &&
      find(library, "Highs_setDoubleOptionValue", api->set_double) &&
      find(library, "Highs_setStringOptionValue", api->set_string) && find(library, "Highs_passMip", api->pass_mip) &&
      find(library, "Highs_run", api->run) && find(library, "Highs_getModelStatus", api->model_status) &&
      find(library, "Highs_getSolution", api->get_solution) &&
      find(library, "Highs_getDoubleInfoValue", api->get_double);
  dlclose(library);  // it stays, by RTLD_NODELETE
  if (!all) return nullptr;
  void* highs = api->create();
  const bool same_int = highs != nullptr && api->sizeof_int(highs) == sizeof(HighsInt);
  if (highs != nullptr) api->destroy(highs);
  if (!same_int) return nullptr;
  return std::unique_ptr<Highs>(new Highs(std::move(api)));
}

std::optional<Answer> Highs::solve(const Model& m, double seconds) const {
  std::size_t entries = 0;
  for (const Edge& e : m.edges) entries += 2 * e.table.size();
  if (m.size() == 0 || entries > kMostEntries || seconds <= 0) return std::nullopt;
  Program program = make_program(m);
  const double factor = scale(program);
  const std::unique_ptr<void, void (*)(void*)> highs(api_->create(), api_->destroy);
  void* const h = highs.get();
  api_->set_bool(h, "output_flag", 0);
  api_->set_int(h, "threads", 1);
  api_->set_string(h, "parallel", "off");
  api_->set_int(h, "random_seed", 0);
  api_->set_double(h, "time_limit", seconds);
  api_->set_double(h, "mip_rel_gap", 0);
  api_->set_double(h, "mip_abs_gap", 0.5 * factor);  // costs are integers
  const auto columns = static_cast<HighsInt>(program.cost.size()), rows = static_cast<HighsInt>(program.side.size());
  if (api_->pass_mip(h, columns, rows, static_cast<HighsInt>(program.index.size()), kByRows, kMinimize, 0,
                     program.cost.data(), program.lower.data(), program.upper.data(), program.side.data(),
                     program.side.data(), program.start.data(), program.index.data(), program.value.data(),
                     program.integrality.data()) == kError ||
      api_->run(h) == kError) {
    return std::nullopt;
  }
  const HighsInt status = api_->model_status(h);
  if (status == kInfeasible || status == kUnboundedOrInfeasible) return infeasible();
  std::vector<double> x(program.cost.size(), 0), row(program.side.size(), 0);
  double bound = 0;
  if (api_->get_solution(h, x.data(), nullptr, row.data(), nullptr) == kError) return std::nullopt;
  if (api_->get_double(h, "mip_dual_bound", &bound) == kError) bound = 0;
  Answer answer;
  answer.label = read_labels(program, m, x);
  answer.cost = evaluate(m, answer.label);
  answer.feasible = answer.cost < kForbidden;
  if (status == kOptimal && !answer.feasible) return std::nullopt;  // out of tolerance
  answer.lower_bound = status == kOptimal ? answer.cost : std::min(rounded_bound(bound / factor), answer.cost);
  return answer;
}

}  // namespace gantry::layout::solver
