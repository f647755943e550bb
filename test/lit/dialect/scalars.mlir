// RUN: lamina opt %s | FileCheck %s
// RUN: lamina opt %s | lamina opt - | FileCheck %s

// Numbers are read and printed with every bit.
// CHECK-LABEL: func.func @numbers
// CHECK:         value = -0.000000e+00 : f32
// CHECK:         value = 0x7FC00001 : f32
// CHECK:         value = 0xFF80 : bf16
// CHECK:         value = 18446744073709551615 : ui64
// CHECK:         value = -128 : i8
// CHECK:         value = array<f64: 0xFFF0000000000000, -0.000000e+00>
// CHECK:         value = true
func.func @numbers() {
  %0 = "array.constant"() {value = -0.0 : f32, dtype = f32} : () -> tensor<f32>
  %1 = "array.constant"() {value = 0x7FC00001 : f32, dtype = f32} : () -> tensor<f32>
  %2 = "array.constant"() {value = 0xFF80 : bf16, dtype = bf16} : () -> tensor<bf16>
  %3 = "array.constant"() {value = 18446744073709551615 : ui64, dtype = ui64} : () -> tensor<ui64>
  %4 = "array.constant"() {value = -128 : i8, dtype = i8} : () -> tensor<i8>
  %5 = "array.constant"() {value = array<f64: 0xFFF0000000000000, -0.0>, dtype = complex<f32>} : () -> tensor<complex<f32>>
  %6 = "array.constant"() {value = true, dtype = i1} : () -> tensor<i1>
  return
}
