import { CONTESTANTS, EXAMPLE } from "../support/objects";
import { cluster, startStage } from "../support/use-cluster";

test.each(CONTESTANTS)(
  "examples/daemonset.yaml registers its driver, and a pod uses its volume: $name",
  async (contestant) => {
    await using stage = await startStage(contestant);
    await stage.mountsVolume("inline");
    expect(await cluster().kubectl("logs", "inline")).toBe("read text of inline\n");
    expect((await stage.status("registrar")).restartCount).toBe(0);
    expect(cluster().record.isListed(EXAMPLE.driver)).toBe(true);
  },
);
