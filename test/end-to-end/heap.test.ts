import { join } from "node:path";
import { eventually } from "../support/eventually";
import { registrarCommand } from "../support/registrar-command";
import { nodeTest, registrarArguments } from "./support/node";

const REPORT = join(__dirname, "support", "report-young-objects.cjs");

nodeTest(
  "a busy registrar's young objects stay in 4 MB, not in the 32 MB or more that V8 would take",
  async (node) => {
    await node.driver();
    await node.kubelet();
    const [program, ...words] = registrarCommand();
    const registrar = node.cli(
      registrarArguments(node),
      {},
      { command: [program, "--require", REPORT, ...words] },
    );
    await registrar.reached("registered");
    process.kill(registrar.pid, "SIGWINCH");
    await eventually(() => expect(registrar.stderr).toContain("young objects have"));
    // Up to Node 22 they have 2 MB by the end of the start, then 4.
    expect(registrar.stderr).toMatch(/young objects have [24] MB\n/);
  },
);
