import { readText } from "../docs/markdown";

/** What the drivers are made of is downloaded where this suite runs: the same everywhere, from where everybody has it. */
test("crates come from crates.io, each with its hash", () => {
  const [, ...packages] = readText("test/drivers/rust/Cargo.lock").split("[[package]]\n");
  const foreign = packages.filter((text) => !text.startsWith('name = "csi-driver"\n'));
  expect(foreign.length).toBeGreaterThan(0);
  for (const text of foreign) {
    expect(text).toContain('\nsource = "registry+https://github.com/rust-lang/crates.io-index"\n');
    expect(text).toMatch(/\nchecksum = "[0-9a-f]{64}"\n/);
  }
});

test("each Python package has an exact version, and comes from where pip looks", () => {
  const lines = readText("test/drivers/python/requirements.txt").trim().split("\n");
  expect(lines.filter((line) => !/^[\w-]+==[\d.]+$/.test(line))).toEqual([]);
});
