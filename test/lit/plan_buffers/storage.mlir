// RUN: lamina opt %s --pass-pipeline=fuse | lamina opt - --pass-pipeline=plan-buffers | FileCheck %s
// RUN: lamina opt %s --pass-pipeline=fuse,plan-buffers | lamina opt - | FileCheck %s

// Two places are enough for a chain: a value is dead when the next one has been made.
// CHECK-LABEL: func.func @workspace({{.*}} attributes {results = ["output0"], workspace = 128 : i64}
// CHECK-NEXT:    %0 = call @workspace_fusion0(%arg0) {kind = "scan", reads = ["input0"], writes = ["workspace+0"]}
// CHECK-NEXT:    %1 = call @workspace_fusion0(%0) {kind = "scan", reads = ["workspace+0"], writes = ["workspace+64"]}
// CHECK-NEXT:    %2 = call @workspace_fusion0(%1) {kind = "scan", reads = ["workspace+64"], writes = ["workspace+0"]}
// CHECK-NEXT:    %3 = call @workspace_fusion0(%2) {kind = "scan", reads = ["workspace+0"], writes = ["output0"]}
// CHECK-NEXT:    return %3
func.func @workspace(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "array.cumsum"(%x) {axis = 0 : i64, reverse = false, inclusive = true} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "array.cumsum"(%0) {axis = 0 : i64, reverse = false, inclusive = true} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "array.cumsum"(%1) {axis = 0 : i64, reverse = false, inclusive = true} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "array.cumsum"(%2) {axis = 0 : i64, reverse = false, inclusive = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// A result and its reshape share a buffer; an input that is returned is the input.
// CHECK-LABEL: func.func @results({{.*}} attributes {results = ["output0", "output0", "input0"], workspace = 0 : i64}
// CHECK-NEXT:    %0 = call @results_fusion0(%arg0) {kind = "loop", reads = ["input0"], writes = ["output0"]}
// CHECK-NEXT:    %1 = "array.reshape"(%0) {shape = array<i64: 2, 2>}
// CHECK-NEXT:    return %0, %1, %arg0
func.func @results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>) {
  %0 = "array.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "array.reshape"(%0) {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  return %0, %1, %x : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>
}

// Literals lie 8 bytes apart.
// CHECK-LABEL: func.func @literal({{.*}} attributes {results = ["output0"], workspace = 0 : i64}
// CHECK-NEXT:    %0 = "array.constant"() {dtype = f32, literal = 1 : i64, value = 3.000000e+00 : f32}
// CHECK-NEXT:    %1 = call @literal_fusion0(%arg0, %0) {kind = "loop", reads = ["input0", "literal+8"], writes = ["output0"]}
// CHECK-NEXT:    return %1
func.func @literal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "array.constant"() {value = 3.0 : f32, dtype = f32, literal = 1 : i64} : () -> tensor<f32>
  %1 = "array.reshape"(%0) {shape = array<i64: 1>} : (tensor<f32>) -> tensor<1xf32>
  %2 = "array.broadcast"(%1) {shape = array<i64: 4>} : (tensor<1xf32>) -> tensor<4xf32>
  %3 = "array.multiply"(%x, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// The copy and the update of it are made in the buffer of the result.
// CHECK-LABEL: func.func @update({{.*}} attributes {results = ["output0"], workspace = 0 : i64}
// CHECK-NEXT:    %0 = "array.empty"() {dtype = f32, shape = array<i64: 9>}
// CHECK-NEXT:    %1 = call @update_fusion0(%arg0, %0) {kind = "loop", reads = ["input0", "output0"], writes = ["output0"]}
// CHECK-NEXT:    %2 = call @update_fusion1(%arg1, %1) {kind = "loop", reads = ["input1", "output0"], writes = ["output0"]}
// CHECK-NEXT:    return %2
func.func @update(%x: tensor<9xf32>, %y: tensor<2xf32>) -> tensor<9xf32> {
  %0 = "array.slice_update"(%x, %y) {start = array<i64: 3>, step = array<i64: 1>} : (tensor<9xf32>, tensor<2xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
