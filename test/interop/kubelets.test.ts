import { parseGrpcGo, sendsPathToDrivers } from "./kubelets";

test.each([
  ["what is required", "require (\n\tgoogle.golang.org/grpc v1.56.3 // indirect\n)\n", "1.56.3"],
  [
    "what replaces it",
    "require google.golang.org/grpc v1.40.0 // indirect\n\nreplace (\n\tgoogle.golang.org/grpc => google.golang.org/grpc v1.27.1\n)\n",
    "1.27.1",
  ],
  [
    "none of its neighbours",
    "require (\n\tgoogle.golang.org/grpc/cmd/x v1.0.0\n\tgoogle.golang.org/grpc v1.79.3\n)\n",
    "1.79.3",
  ],
])("grpc-go's release is %s", (_what, text, version) => {
  expect(parseGrpcGo(text)).toBe(version);
});

test("a go.mod without grpc-go is refused", () => {
  expect(() => parseGrpcGo("module x\n")).toThrow("no grpc-go");
});

test.each([
  ["1.20.15", true],
  ["1.25.16", true],
  ["1.26.0", false],
  ["1.36.3", false],
])("kubelet %s sends a path to drivers: %s", (kubelet, sends) => {
  expect(sendsPathToDrivers(kubelet)).toBe(sends);
});
