import { rmSync } from "node:fs";
import { serveDiagnostics } from "../support/diagnostics";
import { eventually } from "../support/eventually";
import { dialRegistration, registerOnce } from "../support/fake-kubelet";
import { createFleetNode, startTestFleet } from "../support/fleet-node";
import { startForeignSocket } from "../support/foreign-socket";
import { createTestNode, startTestRegistrar, type TestNode } from "../support/registrar-node";
import { startScriptedDriver } from "../support/scripted-driver";

const name = "x.csi";
let node: TestNode;
beforeEach(async () => {
  node = await createTestNode();
});
afterEach(() => node[Symbol.asyncDispose]());

const ok = { status: 200, body: "ok" };

describe("/healthz", () => {
  test("is ok while the driver is waited for, with GET and HEAD", async () => {
    await using started = await startTestRegistrar(node);
    await using http = await serveDiagnostics(started);
    expect(await http.ask("/healthz")).toMatchObject({
      ...ok,
      headers: { "content-type": "text/plain; charset=utf-8", "content-length": "2" },
    });
    expect(await http.ask("/healthz", "HEAD")).toMatchObject({ status: 200, body: "" });
  });

  test("is ok while our socket answers, whatever kubelet has said", async () => {
    await using _driver = await startScriptedDriver(node.csiAddress, { name });
    await using started = await startTestRegistrar(node, { onRegistrationFailure: "retry" });
    await using http = await serveDiagnostics(started);
    await started.state("listening");
    expect(await http.ask("/healthz")).toMatchObject(ok);
    await registerOnce(node.socketPath(name), "no");
    await started.state("refused");
    expect(await http.ask("/healthz")).toMatchObject(ok);
  });

  test("is 404 when our socket is gone, and ok again when it is back", async () => {
    await using _driver = await startScriptedDriver(node.csiAddress, { name });
    await using started = await startTestRegistrar(node);
    await using http = await serveDiagnostics(started);
    await started.state("listening");
    // Between GetInfo and the notice nothing is published, so that it stays away long enough to be seen.
    using kubelet = dialRegistration(node.socketPath(name));
    await kubelet.getInfo();
    await started.state("asked");
    rmSync(node.socketPath(name));
    expect(await http.ask("/healthz")).toMatchObject({
      status: 404,
      body: "registration socket does not exist",
    });
    expect(started.log.all("Health check failed, registration socket does not exist")).toHaveLength(1);

    await kubelet.notify();
    // An answer holds for a second.
    await eventually(async () => expect(await http.ask("/healthz")).toMatchObject(ok));
  });

  test("is 500 when whoever has our path does not answer", async () => {
    await using _driver = await startScriptedDriver(node.csiAddress, { name });
    await using started = await startTestRegistrar(node, { timeoutMs: 50 });
    await using http = await serveDiagnostics(started);
    await started.state("listening");
    await using _mute = await startForeignSocket(node.socketPath(name));
    await started.state("standby");
    expect(await http.ask("/healthz")).toMatchObject({
      status: 500,
      body: expect.stringContaining("error getting info from node-registrar socket: "),
    });
    expect(started.log.all("Health check failed")).toHaveLength(1);
  });
});

describe("/healthz of a whole node", () => {
  test("is ok where there is no driver", async () => {
    await using fleetNode = await createFleetNode();
    await using started = await startTestFleet(fleetNode);
    await using http = await serveDiagnostics(started);
    expect(await http.ask("/healthz")).toMatchObject(ok);
  });

  test("is ok as long as one driver's socket answers, and then logs no error", async () => {
    await using fleetNode = await createFleetNode();
    await fleetNode.driver("bad", { name: "../bad" });
    await using started = await startTestFleet(fleetNode);
    await using http = await serveDiagnostics(started);
    await started.state("bad", "stopped");
    expect(await http.ask("/healthz")).toMatchObject({ status: 404 });
    await fleetNode.driver("good.csi");
    await started.register("good.csi");
    const errors = () => started.log.records.filter(({ severity }) => severity === "error");
    const before = errors().length;
    expect(await http.ask("/healthz")).toMatchObject(ok);
    expect(started.log.all("Health check succeeded")).toMatchObject([{ severity: "info", verbosity: 5 }]);
    expect(errors()).toHaveLength(before);
  });
});

test("/livez is ok, whatever happens", async () => {
  await using started = await startTestRegistrar(node);
  await using http = await serveDiagnostics(started);
  expect(await http.ask("/livez")).toMatchObject(ok);
  expect((await http.ask("/livez?verbose")).body).toBe("[+]ping ok\nlivez check passed\n");
});

test("/readyz of one of a node's drivers is ok while another registrar serves it", async () => {
  await using fleetNode = await createFleetNode();
  await using _rival = await startForeignSocket(fleetNode.socketPath(name));
  await fleetNode.driver(name);
  await using started = await startTestFleet(fleetNode);
  await using http = await serveDiagnostics(started);
  await started.state(name, "standby");
  expect(await http.ask("/readyz")).toMatchObject(ok);
  expect(await http.ask(`/readyz?driver=${name}`)).toMatchObject(ok);
});

describe("/readyz", () => {
  test("is ok when kubelet has registered the driver, and not before", async () => {
    await using started = await startTestRegistrar(node);
    await using http = await serveDiagnostics(started);
    expect(await http.ask("/readyz")).toMatchObject({
      status: 503,
      body: [
        "[-]driver failed: the CSI driver has not answered yet",
        "[-]socket failed: there is no registration socket yet",
        "[-]registered failed: state is waiting: the CSI driver has not told its name",
        "readyz check failed\n",
      ].join("\n"),
    });

    await using _driver = await startScriptedDriver(node.csiAddress, { name });
    await started.state("listening");
    expect(await http.ask("/readyz?exclude=registered")).toMatchObject(ok);
    expect((await http.ask("/readyz")).body).toMatch(
      /^\[-\]registered failed: state is listening since \S+: kubelet has not called$/m,
    );

    await registerOnce(node.socketPath(name));
    await started.state("registered");
    expect(await http.ask("/readyz")).toMatchObject(ok);
    expect((await http.ask("/readyz?verbose")).body).toBe(
      "[+]driver ok\n[+]socket ok\n[+]registered ok\nreadyz check passed\n",
    );
    expect(await http.ask(`/readyz?driver=${name}`)).toMatchObject(ok);
    expect((await http.ask("/readyz?driver=y.csi")).status).toBe(503);
  });

  test.each([
    [false, 200],
    [true, 503],
  ])("while the driver is away, with requireDriver %s is %d", async (requireDriver, status) => {
    await using driver = await startScriptedDriver(node.csiAddress, { name });
    await using started = await startTestRegistrar(node);
    await using http = await serveDiagnostics(started, { requireDriver });
    await started.state("listening");
    await registerOnce(node.socketPath(name));
    await started.state("registered");
    await driver.kill();
    await started.log.when("Lost connection");
    expect((await http.ask("/readyz")).status).toBe(status);
  });

  test.each(["POST", "PUT", "DELETE"])("refuses %s", async (method) => {
    await using started = await startTestRegistrar(node);
    await using http = await serveDiagnostics(started);
    expect(await http.ask("/readyz", method)).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  });

  test.each(["/readyz?exclude=%zz", "/readyz?verbose&verbose", "/readyz?//", "/readyz?"])(
    "is not upset by %s",
    async (path) => {
      await using started = await startTestRegistrar(node);
      await using http = await serveDiagnostics(started);
      expect((await http.ask(path)).status).toBe(503);
    },
  );
});
