// RUN: lamina opt %s --pass-pipeline=fuse,plan-buffers,lower-kernels | FileCheck %s
// RUN: lamina opt %s --pass-pipeline=fuse,plan-buffers | lamina opt - --pass-pipeline=lower-kernels | lamina opt - | FileCheck %s

// The launches of each function, then the kernels. Kernels know no sizes: extents, strides and
// chunks are words of a launch.

// CHECK-LABEL: func.func @loop() attributes {arguments = (tensor<1000x3xf32>, tensor<1x3xf32>) -> tensor<1000x3xf32>, results = ["output0"], workspace = 0 : i64}
// CHECK-NEXT:    "array.launch"() {arguments = ["input0", "input1", "output0", 1000, 3, 3, 3, 3], grain = 1000 : i64, kernel = @[[LOOP:kernel_[0-9a-f]+]], units = 1000 : i64}
// CHECK-NEXT:    return
func.func @loop(%x: tensor<1000x3xf32>, %y: tensor<1x3xf32>) -> tensor<1000x3xf32> {
  %0 = "array.broadcast"(%y) {shape = array<i64: 1000, 3>} : (tensor<1x3xf32>) -> tensor<1000x3xf32>
  %1 = "array.add"(%x, %0) : (tensor<1000x3xf32>, tensor<1000x3xf32>) -> tensor<1000x3xf32>
  return %1 : tensor<1000x3xf32>
}

// Another size needs no other code.
// CHECK-LABEL: func.func @loop_of_another_size()
// CHECK-NEXT:    "array.launch"() {arguments = ["input0", "input1", "output0", 20, 70, 70, 70, 70], grain = 20 : i64, kernel = @[[LOOP]], units = 20 : i64}
func.func @loop_of_another_size(%x: tensor<20x70xf32>, %y: tensor<1x70xf32>) -> tensor<20x70xf32> {
  %0 = "array.broadcast"(%y) {shape = array<i64: 20, 70>} : (tensor<1x70xf32>) -> tensor<20x70xf32>
  %1 = "array.add"(%x, %0) : (tensor<20x70xf32>, tensor<20x70xf32>) -> tensor<20x70xf32>
  return %1 : tensor<20x70xf32>
}

// A long row is summed in chunks, whose sums lie in the workspace.
// CHECK-LABEL: func.func @split() {{.*}} workspace = 64 : i64}
// CHECK-NEXT:    "array.launch"() {arguments = ["input0", "workspace", 100000, 16384, 1], grain = 1 : i64, kernel = @[[SPLIT:kernel_[0-9a-f]+]], units = 7 : i64}
// CHECK-NEXT:    "array.launch"() {arguments = ["workspace", "output0", 7, 7], grain = 1 : i64, kernel = @{{.*}}, units = 1 : i64}
func.func @split(%x: tensor<100000xf32>) -> tensor<1xf32> {
  %0 = "array.reduce_sum"(%x) {axes = array<i64: 0>} : (tensor<100000xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// Long columns are reduced in slabs, whose lanes lie along the columns' axis.
// CHECK-LABEL: func.func @columns() {{.*}} workspace = 192 : i64}
// CHECK-NEXT:    "array.launch"() {arguments = ["input0", "workspace", 7, 600, 128, 7, 7], grain = 5 : i64, kernel = @[[COLUMNS:kernel_[0-9a-f]+]], units = 5 : i64}
// CHECK-NEXT:    "array.launch"() {arguments = ["workspace", "output0", 7, 5, 5, 7], grain = 1 : i64
func.func @columns(%x: tensor<600x7xf32>) -> tensor<1x7xf32> {
  %0 = "array.reduce_max"(%x) {axes = array<i64: 0>} : (tensor<600x7xf32>) -> tensor<1x7xf32>
  return %0 : tensor<1x7xf32>
}

// A softmax is one launch.
// CHECK-LABEL: func.func @row()
// CHECK-NEXT:    "array.launch"() {arguments = ["input0", "output0", 4, 50, 50, 50, 50], grain = 4 : i64, kernel = @[[ROW:kernel_[0-9a-f]+]], units = 4 : i64}
// CHECK-NEXT:    return
func.func @row(%x: tensor<4x50xf32>) -> tensor<4x50xf32> {
  %0 = "array.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<4x50xf32>) -> tensor<4x1xf32>
  %1 = "array.broadcast"(%0) {shape = array<i64: 4, 50>} : (tensor<4x1xf32>) -> tensor<4x50xf32>
  %2 = "array.subtract"(%x, %1) : (tensor<4x50xf32>, tensor<4x50xf32>) -> tensor<4x50xf32>
  %3 = "array.exp"(%2) : (tensor<4x50xf32>) -> tensor<4x50xf32>
  %4 = "array.reduce_sum"(%3) {axes = array<i64: 1>} : (tensor<4x50xf32>) -> tensor<4x1xf32>
  %5 = "array.broadcast"(%4) {shape = array<i64: 4, 50>} : (tensor<4x1xf32>) -> tensor<4x50xf32>
  %6 = "array.divide"(%3, %5) : (tensor<4x50xf32>, tensor<4x50xf32>) -> tensor<4x50xf32>
  return %6 : tensor<4x50xf32>
}

// Transposes go through tiles of 16 rows.
// CHECK-LABEL: func.func @tiled()
// CHECK-NEXT:    "array.launch"() {arguments = ["input0", "output0", 50, 40, 40, 1, 50, 40], grain = 4 : i64, kernel = @[[TILED:kernel_[0-9a-f]+]], units = 4 : i64}
func.func @tiled(%x: tensor<40x50xf32>) -> tensor<50x40xf32> {
  %0 = "array.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<40x50xf32>) -> tensor<50x40xf32>
  return %0 : tensor<50x40xf32>
}

// A scan from the end starts at the last element, with negative strides.
// CHECK-LABEL: func.func @scan()
// CHECK-NEXT:    "array.launch"() {arguments = ["input0+32", "output0+32", 9, 9, -1, -1], grain = 1 : i64, kernel = @[[SCAN:kernel_[0-9a-f]+]], units = 1 : i64}
func.func @scan(%x: tensor<9xf32>) -> tensor<9xf32> {
  %0 = "array.cumsum"(%x) {axis = 0 : i64, reverse = true, inclusive = true} : (tensor<9xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// A piece is written where it goes: 5 elements into each row of 7.
// CHECK-LABEL: func.func @concatenate()
// CHECK-NEXT:    "array.launch"() {arguments = ["input0", "output0", 4, 5, 5, 5, 7]
// CHECK-NEXT:    "array.launch"() {arguments = ["input1", "output0+20", 4, 2, 2, 2, 7]
func.func @concatenate(%x: tensor<4x5xf32>, %y: tensor<4x2xf32>) -> tensor<4x7xf32> {
  %0 = "array.concatenate_2"(%x, %y) {axis = 1 : i64} : (tensor<4x5xf32>, tensor<4x2xf32>) -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}

// A product is written to the result, where the epilogue finishes it.
// CHECK-LABEL: func.func @contraction()
// CHECK-NEXT:    "array.launch"() {arguments = ["library:cblas_sgemm", "input0", "input1", "output0", 4, 6, 5, 5, 5, 0, 0, 4, 6, "output0", "input2", "output0", 4, 6, 6, 6, 6, 6], grain = 1 : i64, kernel = @[[PRODUCT:kernel_[0-9a-f]+]], units = 1 : i64}
func.func @contraction(%x: tensor<4x5xf32>, %y: tensor<6x5xf32>, %z: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = "array.transpose"(%y) {permutation = array<i64: 1, 0>} : (tensor<6x5xf32>) -> tensor<5x6xf32>
  %1 = "array.matmul"(%x, %0) : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %2 = "array.add"(%1, %z) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// A strip is a loop over whole vectors and a masked rest.
// CHECK:       func.func @[[LOOP]](
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             vector.load {{.*}} vector<16xf32>
// CHECK:             vector.store {{.*}} vector<16xf32>
// CHECK:           scf.if
// CHECK:             vector.create_mask
// CHECK:             vector.maskedstore {{.*}} vector<16xf32>

// Float sums start at -0.0 and go by blocks; the lanes are added up by halves.
// CHECK:       func.func @[[SPLIT]](
// CHECK:         arith.constant dense<-0.000000e+00> : vector<32xf32>
// CHECK:         scf.for {{.*}} iter_args
// CHECK:           scf.for {{.*}} iter_args
// CHECK:         vector.extract_strided_slice {{.*}} vector<32xf32> to vector<16xf32>

// Accumulators of columns lie on the stack.
// CHECK:       func.func @[[COLUMNS]](
// CHECK:         memref.alloca({{.*}}) {alignment = 64 : i64} : memref<?xf32>
// CHECK:         arith.maximumf {{.*}} : vector<16xf32>

// exp is computed once and kept; its sum and the quotient read it.
// CHECK:       func.func @[[ROW]](
// CHECK:         memref.alloca
// CHECK:         arith.maximumf
// CHECK:         arith.divf {{.*}} : vector<16xf32>

// CHECK:       func.func @[[TILED]](
// CHECK:         vector.gather {{.*}} vector<16xf32>

// CHECK:       func.func @[[SCAN]](
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (f32)
// CHECK:           memref.load
// CHECK:           arith.addf {{.*}} : f32
// CHECK:           memref.store

// CHECK:       func.func private @[[PRODUCT]]_epilogue(
// CHECK:       func.func @[[PRODUCT]](
// CHECK:         llvm.call %{{.*}} : !llvm.ptr, (i32, i32, i32, i32, i32, i32, f32, !llvm.ptr, i32, !llvm.ptr, i32, f32, !llvm.ptr, i32) -> ()
// CHECK:         func.call @[[PRODUCT]]_epilogue
