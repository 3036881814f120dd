import { lookUntilHealthy } from "../../src/tools/until-healthy";

test("--wait goes on while a registrar starts, although nothing is wrong", async () => {
  const states = ["starting", "starting", "ready"];
  const look = async () => ({ healthy: true, nodes: [{ state: states.shift() ?? "none" }] });
  expect((await lookUntilHealthy(look, 60_000, 1)).nodes).toEqual([{ state: "ready" }]);
});
