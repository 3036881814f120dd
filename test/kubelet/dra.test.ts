import { rm } from "node:fs/promises";
import { join } from "node:path";
import { startRegistration } from "../../src/registrar/start-registration";
import { startKubelet } from "./support/kubelet";
import { createNodeFolder } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "gpu.example.com";
const withDra = (version: string) => Number(version.split(".")[1]) >= 35;

for (const version of kubeletVersions().filter(withDra))
  test(`kubelet ${version}'s DRA manager registers a driver, heals it, and says no in its own words`, async () => {
    await using node = await createNodeFolder();
    await using kubelet = await startKubelet({ version, pluginDir: node.pluginRegistrationPath });
    const { pluginRegistrationPath } = node;
    const endpoint = join(pluginRegistrationPath, "..", "dra.sock");
    const plugin = { type: "DRAPlugin", name, endpoint, pluginRegistrationPath } as const;

    const unknown = await startRegistration({ ...plugin, supportedVersions: ["v9.DRAPlugin"] });
    await expect(unknown.ready).rejects.toMatchObject({
      code: "REFUSED",
      message: expect.stringContaining('none of services supported by the plugin (["v9.DRAPlugin"])'),
    });

    await using registration = await startRegistration({ ...plugin, supportedVersions: ["v1.DRAPlugin"] });
    await registration.ready;
    expect(await kubelet.answered("register", name)).toMatchObject({
      endpoint,
      versions: ["v1.DRAPlugin"],
      error: null,
    });

    const before = await kubelet.eventsSoFar();
    await rm(join(pluginRegistrationPath, `${name}-dra-reg.sock`));
    expect(await kubelet.answered("register", name, before)).toMatchObject({ error: null });

    const beforeEnd = await kubelet.eventsSoFar();
    await registration.close();
    await kubelet.events.waitFor((event) => event.event === "deregister" && event.plugin === name, beforeEnd);
  });
