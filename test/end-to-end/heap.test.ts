import { join } from "node:path";
import { eventually } from "../support/eventually";
import { registrarCommand } from "../support/registrar-command";
import { nodeTest, registrarArguments } from "./support/node";

const REPORT = join(__dirname, "support", "report-young-objects.cjs");

nodeTest(
  "a busy registrar's young objects stay in 2 MB, not in the 32 MB that V8 would take",
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
    expect(registrar.stderr).toContain("young objects have 2 MB\n");
  },
);
