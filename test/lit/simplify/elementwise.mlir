// RUN: lamina opt %s --pass-pipeline=canonicalize | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-NEXT:    return %arg0, %arg0, %arg0, %arg0
func.func @identities(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c = "array.constant"() {value = 1.0 : f32, dtype = f32} : () -> tensor<f32>
  %r = "array.reshape"(%c) {shape = array<i64: 1>} : (tensor<f32>) -> tensor<1xf32>
  %one = "array.broadcast"(%r) {shape = array<i64: 4>} : (tensor<1xf32>) -> tensor<4xf32>
  %z = "array.constant"() {value = 0.0 : f32, dtype = f32} : () -> tensor<f32>
  %zr = "array.reshape"(%z) {shape = array<i64: 1>} : (tensor<f32>) -> tensor<1xf32>
  %zero = "array.broadcast"(%zr) {shape = array<i64: 4>} : (tensor<1xf32>) -> tensor<4xf32>
  %0 = "array.multiply"(%one, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "array.subtract"(%x, %zero) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = "array.negative"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "array.negative"(%n) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "array.power"(%x, %one) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// What a float must keep: -0.0 + 0.0 is 0.0, infinity * 0 and NaN - NaN are NaN.
// CHECK-LABEL: func.func @not_identities
// CHECK:         array.add
// CHECK:         array.multiply
// CHECK:         array.subtract
// CHECK:         array.divide
func.func @not_identities(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = "array.constant"() {value = 0.0 : f32, dtype = f32} : () -> tensor<f32>
  %0 = "array.add"(%x, %zero) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "array.multiply"(%x, %zero) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = "array.subtract"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = "array.divide"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @integers
// CHECK-DAG:     %[[ZERO:.*]] = "array.constant"() {dtype = i32, value = 0 : i32}
// CHECK:         return %[[ZERO]], %{{.*}}, %arg0
func.func @integers(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  %zero = "array.constant"() {value = 0 : i32, dtype = i32} : () -> tensor<i32>
  %0 = "array.multiply"(%x, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = "array.bitwise_xor"(%x, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = "array.left_shift"(%x, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0, %1, %2 : tensor<i32>, tensor<i32>, tensor<i32>
}

// CHECK-LABEL: func.func @constants_move_right
// CHECK:         "array.add"(%arg0, %{{.*}})
// CHECK:         "array.greater"(%arg0, %{{.*}})
func.func @constants_move_right(%x: tensor<f32>) -> (tensor<f32>, tensor<i1>) {
  %c = "array.constant"() {value = 3.0 : f32, dtype = f32, literal = 0 : i64} : () -> tensor<f32>
  %0 = "array.add"(%c, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "array.less"(%c, %x) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0, %1 : tensor<f32>, tensor<i1>
}

// A literal is an operand of the machine code: its value is unknown to passes.
// CHECK-LABEL: func.func @literals
// CHECK:         %[[ONE:.*]] = "array.constant"() {dtype = f32, literal = 0 : i64, value = 1.000000e+00 : f32}
// CHECK:         "array.multiply"(%arg0, %[[ONE]])
func.func @literals(%x: tensor<f32>) -> tensor<f32> {
  %one = "array.constant"() {value = 1.0 : f32, dtype = f32, literal = 0 : i64} : () -> tensor<f32>
  %0 = "array.multiply"(%x, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @folds
// CHECK:         %[[TWO:.*]] = "array.constant"() {dtype = f32, value = 2.000000e+00 : f32}
// CHECK:         %[[EXP:.*]] = "array.exp"
// CHECK:         return %[[TWO]], %[[EXP]]
func.func @folds() -> (tensor<f32>, tensor<f32>) {
  %one = "array.constant"() {value = 1.0 : f32, dtype = f32} : () -> tensor<f32>
  %two = "array.constant"() {value = 2.0 : f32, dtype = f32} : () -> tensor<f32>
  %0 = "array.divide"(%two, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "array.exp"(%one) : (tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @casts
// CHECK-NEXT:    %[[LOSSY:.*]] = "array.cast"(%arg0) {dtype = f16}
// CHECK-NEXT:    %[[BACK:.*]] = "array.cast"(%[[LOSSY]]) {dtype = f32}
// CHECK-NEXT:    return %arg0, %[[BACK]]
func.func @casts(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %wide = "array.cast"(%x) {dtype = f64} : (tensor<4xf32>) -> tensor<4xf64>
  %0 = "array.cast"(%wide) {dtype = f32} : (tensor<4xf64>) -> tensor<4xf32>
  %narrow = "array.cast"(%x) {dtype = f16} : (tensor<4xf32>) -> tensor<4xf16>
  %1 = "array.cast"(%narrow) {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @selection
// CHECK-NEXT:    %[[S:.*]] = "array.select"(%arg0, %arg2, %arg1)
// CHECK-NEXT:    return %[[S]], %arg1
func.func @selection(%c: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %not = "array.bitwise_invert"(%c) : (tensor<i1>) -> tensor<i1>
  %0 = "array.select"(%not, %x, %y) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "array.select"(%c, %x, %x) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
