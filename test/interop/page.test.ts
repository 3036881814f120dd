import { readText, rowsIn, sectionOf } from "../docs/markdown";
import { allVersions } from "../kubelet/support/versions";
import { NODE_LINES } from "../matrix/nodes";
import { DRIVERS } from "./drivers";

describe("docs/interop.md", () => {
  const section = sectionOf(readText("docs/interop.md"), "The table");
  const rows = rowsIn(section);
  const cells = rows.filter((row) => row.length === NODE_LINES.length + 2);

  test("has a row for every kubelet that can be built and every driver", () => {
    const pairs = cells.map(([kubelet, driver]) => [kubelet, driver]);
    expect(pairs).toEqual(allVersions().flatMap((version) => DRIVERS.map(({ name }) => [version, name])));
  });

  test("has a column for every Node", () => {
    const nodes = Array.from(section.matchAll(/\| Node (\d+\.\d+)/g), ([, node = ""]) => node);
    const fits = nodes.map((node, index) => `${node}.`.startsWith(`${NODE_LINES[index]}.`));
    expect(fits).toEqual(NODE_LINES.map(() => true));
  });

  test("has no cell that is not explained", () => {
    expect(new Set(cells.flatMap((row) => row.slice(2)))).toEqual(new Set(["registered", "refused"]));
  });
});
