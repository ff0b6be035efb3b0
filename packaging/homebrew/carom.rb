# SPDX-License-Identifier: MIT
# A formula for a Homebrew tap; packaging/README.md says what of it was tried. Put the address and the sha256 of the
# archive of `make dist` in place of the two below.
class Carom < Formula
  desc "3D collision detection with exact or bounded answers"
  homepage "https://example.org/carom"
  url "file:///path/to/carom-0.2.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "cmake" => :build
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-DCAROM_TESTS=OFF", "-DCAROM_EXAMPLES=OFF",
           "-DCAROM_CUDA=OFF", "-DCAROM_ASSIMP=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"carom", "make", "cloth", "-o", "cloth.ply"
    assert_match "faces", shell_output("#{bin}/carom info cloth.ply")
    (testpath/"hello.c").write <<~C
      #include <carom/carom.h>
      int main(void) {
          carom_context *context;
          carom_status status = carom_context_create(NULL, &context);
          carom_context_destroy(status == CAROM_OK ? context : NULL);
          return status != CAROM_OK;
      }
    C
    system ENV.cc, "hello.c", "-I#{include}", "-L#{lib}", "-lcarom", "-o", "hello"
    system "./hello"
  end
end
