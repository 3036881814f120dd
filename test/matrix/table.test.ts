import { matrixText } from "./table";

test("a row for each check, a column for each Node", () => {
  const text = matrixText([
    { check: "--version", node: "22.1.0", result: { text: "ok" } },
    { check: "demo", node: "22.1.0", result: { text: "all of it, 9 s" } },
    { check: "--version", node: "24.0.0", result: { text: "ok" } },
    { check: "demo", node: "24.0.0", result: { text: "ok" } },
  ]);
  expect(text).toBe(
    [
      "           Node 22.1.0     Node 24.0.0",
      "--version  ok              ok",
      "demo       all of it, 9 s  ok",
    ].join("\n"),
  );
});

test("what failed is told below, and what was not tried has a cell too", () => {
  const text = matrixText([
    { check: "--version", node: "22.1.0", result: { problem: "it said nothing" } },
    { check: "demo", node: "24.0.0", result: { text: "ok" } },
  ]);
  expect(text).toBe(
    [
      "           Node 22.1.0  Node 24.0.0",
      "--version  FAILED       not tried",
      "demo       not tried    ok",
      "",
      "Node 22.1.0, --version:",
      "it said nothing",
    ].join("\n"),
  );
});
