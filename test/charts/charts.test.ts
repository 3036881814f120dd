import { basename, dirname } from "node:path";
import { httpOf } from "../end-to-end/support/http";
import { DRIVER, onNode, registered } from "../end-to-end/support/node";
import { DEPLOYMENTS, type Deployment, relocate } from "./deployments";

const complete = DEPLOYMENTS.filter(({ args }) => args.join(" ").includes("kubelet-registration-path"));
/** An address from a ConfigMap is not in the manifest. */
const hasAddress = ({ args, env = {} }: Deployment) =>
  args.every((word) => env[/^--?csi-address=\$\((\w+)\)$/.exec(word)?.[1] ?? ""] !== "");
const rows = (some: typeof DEPLOYMENTS) => some.map((one) => [one.repository, one.driver, one] as const);

/** Flags in any order, without the paths, numbers and names that differ from chart to chart; what fills them in, and probes. */
const shapeOf = ({ args, execProbe, httpProbe }: Deployment) => {
  const flags = args.map((word) =>
    word
      .replace(/^-+/, "--")
      .replace(/=(unix:)?[^$]*\/.*/, "=$1PATH")
      .replace(/\d+/g, "N"),
  );
  return JSON.stringify([flags.sort(), execProbe !== undefined, httpProbe]);
};

/** One deployment of each shape: each costs a process. The flags of all are parsed in test/tools/doctor. */
const different = [...new Map(complete.filter(hasAddress).map((one) => [shapeOf(one), one])).values()];

describe("the arguments of a real deployment register its driver", () => {
  test.concurrent.each(rows(different))(
    "%s: %s",
    onNode(async (node, _repository, _driver, deployment) => {
      const { endpoint = "", ...moved } = relocate(deployment, dirname(node.pluginDir));
      const { args, env, execProbe, pluginDir } = moved;
      const kubelet = await node.kubelet({ pluginRegistrationPath: pluginDir });
      await node.driver({ csiAddress: endpoint });

      const registrar = node.cli(args, env);
      const registration = await registered(kubelet);

      expect(registration).toMatchObject({ driverName: DRIVER, endpoint });
      expect(basename(registration.socketPath)).toBe(`${DRIVER}-reg.sock`);
      if (execProbe) expect(await node.cli(execProbe, env).exit()).toMatchObject({ code: 0 });
      if (deployment.httpProbe) {
        const http = await httpOf(registrar);
        expect(await http.get(deployment.httpProbe)).toMatchObject({ status: 200, body: "ok" });
      }
      expect(await registrar.stop()).toMatchObject({ code: 0 });
    }),
  );
});
