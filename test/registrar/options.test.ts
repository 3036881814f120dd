import { type RegistrarOptions, resolveOptions } from "../../src/registrar/options";

const required: RegistrarOptions = {
  csiAddress: "unix:///csi/csi.sock",
  kubeletRegistrationPath: "/var/lib/kubelet/plugins/x/csi.sock",
};

test("fills in every default", () => {
  expect(resolveOptions(required)).toEqual({
    ...required,
    csiSocketPath: "/csi/csi.sock",
    pluginRegistrationPath: "/registration",
    timeoutMs: 1_000,
    driverTimeoutMs: 0,
    onRegistrationFailure: "exit",
    reregisterOnDriverRestart: false,
  });
});

test("keeps every given value", () => {
  const given: RegistrarOptions = {
    csiAddress: "/a.sock",
    kubeletRegistrationPath: "/b.sock",
    pluginRegistrationPath: "/c",
    timeoutMs: 1,
    driverTimeoutMs: 2 ** 31 - 1,
    onRegistrationFailure: "retry",
    reregisterOnDriverRestart: true,
  };
  expect(resolveOptions(given)).toEqual({ ...given, csiSocketPath: "/a.sock" });
});

test("takes nothing over that is no option", () => {
  expect(resolveOptions({ ...required, stray: 1 } as RegistrarOptions)).not.toHaveProperty("stray");
});

test.each<[Partial<RegistrarOptions>, string]>([
  [{ csiAddress: "tcp://x" }, 'csi-address "tcp://x" is not a unix socket path'],
  [{ kubeletRegistrationPath: "" }, "kubelet-registration-path is a required parameter"],
  [{ pluginRegistrationPath: "" }, "plugin-registration-path must not be empty"],
  [{ timeoutMs: 0 }, "timeout must be more than 0"],
  [{ timeoutMs: -1 }, "timeout must be more than 0"],
  [{ timeoutMs: Number.NaN }, "timeout must be more than 0"],
  [{ driverTimeoutMs: -1 }, "driver-timeout must not be negative"],
  [{ driverTimeoutMs: Number.NaN }, "driver-timeout must not be negative"],
  // A longer timer would fire at once.
  [{ driverTimeoutMs: 2 ** 31 }, "driver-timeout must be 24 days at most"],
  [{ driverTimeoutMs: Number.POSITIVE_INFINITY }, "driver-timeout must be 24 days at most"],
  [{ onRegistrationFailure: "restart" as "retry" }, "on-registration-failure must be one of exit, retry"],
])("refuses %j", (given, message) => {
  expect(() => resolveOptions({ ...required, ...given })).toThrow(
    expect.objectContaining({
      name: "RegistrarError",
      code: "INVALID_OPTION",
      message: expect.stringContaining(message),
    }),
  );
});
