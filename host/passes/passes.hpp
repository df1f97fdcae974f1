// The passes, one function each, one file each; runner.cpp lists them with their names. Private to host/passes.
#pragma once

#include "host/passes/pass.hpp"

namespace gantry::passes {

// On the source's dialect.
Status normalize(PassContext& c);  // newest forms, types, constants folded, function bodies expanded
Status patterns(PassContext& c);   // the plugins' patterns, on every dialect that occurs
Status convert(PassContext& c);    // every node to the target dialect

// Clean-ups of the tflite dialect. Each keeps the meaning for any graph, and does nothing to nodes of other dialects.
Status cancel_casts(PassContext& c);       // CAST and BITCAST of a CAST or BITCAST, where one of them or none does
Status cancel_transposes(PassContext& c);  // TRANSPOSE and RESHAPE that compose, vanish, or meet a constant
Status fuse_bias(PassContext& c);          // ADD, SUB, MUL, DIV of a constant along the channel, into bias and weights
Status fuse_input(PassContext& c);         // the same along input channels, into weights and bias of FULLY_CONNECTED
Status fuse_scale(PassContext& c);         // a number that multiplies some output channels, into their weights
Status fuse_center(PassContext& c);        // means that are taken away, out of the weights that make the values
Status merge_projections(PassContext& c);  // queries, keys and values of one operand are one FULLY_CONNECTED
Status fuse_pad(PassContext& c);           // PAD before a VALID convolution or pool that is SAME
Status fuse_activation(PassContext& c);    // RELU... into fused_activation_function
Status cse(PassContext& c);                // any dialect: equal nodes and equal constants become one
Status dce(PassContext& c);                // any dialect: what nothing uses

// The layout engine (host/layout); any dialect whose operators have layout rules.
Status layout(PassContext& c);

// The end.
Status own_states(PassContext& c);        // what a kernel changes is a tensor that is written anew in every run
Status distinct_outputs(PassContext& c);  // no output is an input, a constant, or another output
Status limits(PassContext& c);            // the target's kernels can run every node

}  // namespace gantry::passes
