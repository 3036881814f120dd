import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import dashboard from "../../../examples/dashboard.json";
import { readText } from "../../docs/markdown";
import { createTempFolder } from "../../support/temp-folder";

const TYPES = require.resolve("@grafana/schema/package.json").replace("package.json", "dist/types/index");

test("the dashboard is a value of Grafana's own type, as the compiler sees it", async () => {
  await using folder = await createTempFolder();
  const text = readText("examples/dashboard.json");
  const source = `import type { Dashboard } from "${TYPES}";\nexport const dashboard: Dashboard = ${text};\n`;
  writeFileSync(folder.at("dashboard.ts"), source);
  const flags = "--noEmit --strict --skipLibCheck --ignoreConfig --module nodenext --singleThreaded";
  const words = [...flags.split(" "), folder.at("dashboard.ts")];
  expect(spawnSync("node_modules/.bin/tsc", words, { encoding: "utf8" }).stdout).toBe("");
});

test("no panel covers another, and none leaves Grafana's 24 columns", () => {
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
});
