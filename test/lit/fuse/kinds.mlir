// RUN: lamina opt %s --pass-pipeline=fuse | FileCheck %s
// RUN: lamina opt %s --pass-pipeline=fuse | lamina opt - | FileCheck %s

// One function for each kind of fusion; reductions, rows and products take their neighbours in.

// What is broadcast is read where it lies.
// CHECK-LABEL: func.func @loop(
// CHECK-NEXT:    %0 = call @loop_fusion0(%arg0, %arg1) {kind = "loop"}
// CHECK-NEXT:    return %0
// CHECK-LABEL: func.func private @loop_fusion0(
// CHECK-NEXT:    %0 = "array.broadcast"(%arg1) {shape = array<i64: 4, 5>}
// CHECK-NEXT:    %1 = "array.add"(%arg0, %0)
// CHECK-NEXT:    %2 = "array.exp"(%1)
// CHECK-NEXT:    return %2
func.func @loop(%x: tensor<4x5xf32>, %y: tensor<1x5xf32>) -> tensor<4x5xf32> {
  %0 = "array.broadcast"(%y) {shape = array<i64: 4, 5>} : (tensor<1x5xf32>) -> tensor<4x5xf32>
  %1 = "array.add"(%x, %0) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = "array.exp"(%1) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}

// Reductions over the same axes share a pass, with what they reduce.
// CHECK-LABEL: func.func @reduction(
// CHECK-NEXT:    %0:2 = call @reduction_fusion0(%arg0) {kind = "reduction"}
// CHECK-NEXT:    return %0#0, %0#1
// CHECK-LABEL: func.func private @reduction_fusion0(
// CHECK-NEXT:    %0 = "array.exp"(%arg0)
// CHECK-NEXT:    %1 = "array.reduce_sum"(%0) {axes = array<i64: 1>}
// CHECK-NEXT:    %2 = "array.argmax"(%arg0) {axis = 1 : i64}
// CHECK-NEXT:    return %1, %2
func.func @reduction(%x: tensor<4x5xf32>) -> (tensor<4x1xf32>, tensor<4x1xui32>) {
  %0 = "array.exp"(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = "array.reduce_sum"(%0) {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %2 = "array.argmax"(%x) {axis = 1 : i64} : (tensor<4x5xf32>) -> tensor<4x1xui32>
  return %1, %2 : tensor<4x1xf32>, tensor<4x1xui32>
}

// A softmax is one kernel: the row is read once.
// CHECK-LABEL: func.func @row(
// CHECK-NEXT:    %0 = call @row_fusion0(%arg0) {kind = "row"}
// CHECK-NEXT:    return %0
// CHECK-LABEL: func.func private @row_fusion0(
// CHECK-NEXT:    %0 = "array.reduce_max"(%arg0) {axes = array<i64: 1>}
// CHECK-NEXT:    %1 = "array.broadcast"(%0) {shape = array<i64: 4, 5>}
// CHECK-NEXT:    %2 = "array.subtract"(%arg0, %1)
// CHECK-NEXT:    %3 = "array.exp"(%2)
// CHECK-NEXT:    %4 = "array.reduce_sum"(%3) {axes = array<i64: 1>}
// CHECK-NEXT:    %5 = "array.broadcast"(%4) {shape = array<i64: 4, 5>}
// CHECK-NEXT:    %6 = "array.divide"(%3, %5)
// CHECK-NEXT:    return %6
func.func @row(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = "array.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %1 = "array.broadcast"(%0) {shape = array<i64: 4, 5>} : (tensor<4x1xf32>) -> tensor<4x5xf32>
  %2 = "array.subtract"(%x, %1) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = "array.exp"(%2) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = "array.reduce_sum"(%3) {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %5 = "array.broadcast"(%4) {shape = array<i64: 4, 5>} : (tensor<4x1xf32>) -> tensor<4x5xf32>
  %6 = "array.divide"(%3, %5) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return %6 : tensor<4x5xf32>
}

// Scans stand alone.
// CHECK-LABEL: func.func @scan(
// CHECK-NEXT:    %0 = call @scan_fusion0(%arg0) {kind = "loop"}
// CHECK-NEXT:    %1 = call @scan_fusion1(%0) {kind = "scan"}
// CHECK-NEXT:    return %1
// CHECK-LABEL: func.func private @scan_fusion0(
// CHECK-NEXT:    %0 = "array.exp"(%arg0)
// CHECK-NEXT:    return %0
// CHECK-LABEL: func.func private @scan_fusion1(
// CHECK-NEXT:    %0 = "array.cumsum"(%arg0) {axis = 0 : i64, inclusive = true, reverse = true}
// CHECK-NEXT:    return %0
func.func @scan(%x: tensor<9xf32>) -> tensor<9xf32> {
  %0 = "array.exp"(%x) : (tensor<9xf32>) -> tensor<9xf32>
  %1 = "array.cumsum"(%0) {axis = 0 : i64, reverse = true, inclusive = true} : (tensor<9xf32>) -> tensor<9xf32>
  return %1 : tensor<9xf32>
}

// A product takes views of its operands and finishes with what is done to it.
// CHECK-LABEL: func.func @contraction(
// CHECK-NEXT:    %0 = call @contraction_fusion0(%arg0, %arg1, %arg2) {kind = "contraction"}
// CHECK-NEXT:    return %0
// CHECK-LABEL: func.func private @contraction_fusion0(
// CHECK-NEXT:    %0 = "array.transpose"(%arg1) {permutation = array<i64: 1, 0>}
// CHECK-NEXT:    %1 = "array.matmul"(%arg0, %0)
// CHECK-NEXT:    %2 = "array.reshape"(%arg2) {shape = array<i64: 1, 6>}
// CHECK-NEXT:    %3 = "array.broadcast"(%2) {shape = array<i64: 4, 6>}
// CHECK-NEXT:    %4 = "array.add"(%1, %3)
// CHECK-NEXT:    return %4
func.func @contraction(%x: tensor<4x5xf32>, %y: tensor<6x5xf32>, %z: tensor<6xf32>) -> tensor<4x6xf32> {
  %0 = "array.transpose"(%y) {permutation = array<i64: 1, 0>} : (tensor<6x5xf32>) -> tensor<5x6xf32>
  %1 = "array.matmul"(%x, %0) : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %2 = "array.reshape"(%z) {shape = array<i64: 1, 6>} : (tensor<6xf32>) -> tensor<1x6xf32>
  %3 = "array.broadcast"(%2) {shape = array<i64: 4, 6>} : (tensor<1x6xf32>) -> tensor<4x6xf32>
  %4 = "array.add"(%1, %3) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %4 : tensor<4x6xf32>
}

// Ops that read the same buffer become one kernel with several results.
// CHECK-LABEL: func.func @siblings(
// CHECK-NEXT:    %0:2 = call @siblings_fusion0(%arg0) {kind = "loop"}
// CHECK-NEXT:    %1 = call @siblings_fusion1(%arg1) {kind = "loop"}
// CHECK-NEXT:    return %0#0, %0#1, %1
// CHECK-LABEL: func.func private @siblings_fusion0(
// CHECK-NEXT:    %0 = "array.exp"(%arg0)
// CHECK-NEXT:    %1 = "array.negative"(%arg0)
// CHECK-NEXT:    return %0, %1
// CHECK-LABEL: func.func private @siblings_fusion1(
// CHECK-NEXT:    %0 = "array.exp"(%arg0)
// CHECK-NEXT:    return %0
func.func @siblings(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "array.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "array.negative"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "array.exp"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// What a view moves comes from memory.
// CHECK-LABEL: func.func @view(
// CHECK-NEXT:    %0 = call @view_fusion0(%arg0) {kind = "loop"}
// CHECK-NEXT:    %1 = call @view_fusion1(%0) {kind = "loop"}
// CHECK-NEXT:    return %1
// CHECK-LABEL: func.func private @view_fusion0(
// CHECK-NEXT:    %0 = "array.exp"(%arg0)
// CHECK-NEXT:    return %0
// CHECK-LABEL: func.func private @view_fusion1(
// CHECK-NEXT:    %0 = "array.transpose"(%arg0) {permutation = array<i64: 1, 0>}
// CHECK-NEXT:    %1 = "array.negative"(%0)
// CHECK-NEXT:    return %1
func.func @view(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %0 = "array.exp"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = "array.transpose"(%0) {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %2 = "array.negative"(%1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// Lifted constants are operands, other constants a part of the body; reshapes need no kernel.
// CHECK-LABEL: func.func @literals(
// CHECK-NEXT:    %0 = "array.constant"() {dtype = f32, literal = 0 : i64, value = 3.000000e+00 : f32}
// CHECK-NEXT:    %1 = call @literals_fusion0(%arg0, %0) {kind = "loop"}
// CHECK-NEXT:    %2 = "array.reshape"(%1) {shape = array<i64: 2, 2>}
// CHECK-NEXT:    return %1, %2
// CHECK-LABEL: func.func private @literals_fusion0(
// CHECK-NEXT:    %0 = "array.reshape"(%arg1) {shape = array<i64: 1>}
// CHECK-NEXT:    %1 = "array.broadcast"(%0) {shape = array<i64: 4>}
// CHECK-NEXT:    %2 = "array.multiply"(%arg0, %1)
// CHECK-NEXT:    %3 = "array.constant"() {dtype = f32, value = 1.000000e+00 : f32}
// CHECK-NEXT:    %4 = "array.reshape"(%3) {shape = array<i64: 1>}
// CHECK-NEXT:    %5 = "array.broadcast"(%4) {shape = array<i64: 4>}
// CHECK-NEXT:    %6 = "array.add"(%2, %5)
// CHECK-NEXT:    return %6
func.func @literals(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %0 = "array.constant"() {value = 3.0 : f32, dtype = f32, literal = 0 : i64} : () -> tensor<f32>
  %1 = "array.constant"() {value = 1.0 : f32, dtype = f32} : () -> tensor<f32>
  %2 = "array.reshape"(%0) {shape = array<i64: 1>} : (tensor<f32>) -> tensor<1xf32>
  %3 = "array.broadcast"(%2) {shape = array<i64: 4>} : (tensor<1xf32>) -> tensor<4xf32>
  %4 = "array.reshape"(%1) {shape = array<i64: 1>} : (tensor<f32>) -> tensor<1xf32>
  %5 = "array.broadcast"(%4) {shape = array<i64: 4>} : (tensor<1xf32>) -> tensor<4xf32>
  %6 = "array.multiply"(%x, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = "array.add"(%6, %5) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %8 = "array.reshape"(%7) {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  return %7, %8 : tensor<4xf32>, tensor<2x2xf32>
}
