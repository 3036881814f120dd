import { readFileSync } from "node:fs";
import { boundText } from "../../src/logging/escape";
import { NASTY_TEXTS, UNPRINTABLE } from "../support/nasty-texts";
import { parseLogLine } from "./support/log-line";
import { onNode, refused } from "./support/node";

/** What one event says in either format. */
type Line = Readonly<Record<string, unknown>>;

const READERS: Readonly<Record<string, (line: string) => Line | undefined>> = {
  text: (line) => {
    const parsed = parseLogLine(line);
    return parsed && { msg: parsed.message, ...parsed.fields };
  },
  json: (line) => JSON.parse(line) as Line,
};

/** A status text has 1000 characters at most: gRPC sends it as a header. Each by itself: test/logging/injection.test.ts. */
const { "a great length": _LONG, ...OTHERS } = NASTY_TEXTS;
const text = Object.values(OTHERS).join(" | ");

test.each(Object.keys(READERS))(
  "%s log: what driver and kubelet say stays in one line",
  onNode(async (node, format) => {
    const fails = { kind: "error", method: "GetPluginInfo", code: "UNAVAILABLE", message: text } as const;
    await node.driver({ vendorVersion: text, faults: [{ ...fails, times: 1 }] });
    const kubelet = await node.kubelet({ faults: [{ kind: "refuse", reason: text }] });
    const flags = ["-v=5", `--logging-format=${format}`, `--termination-log=${node.terminationLogPath}`];
    const registrar = node.registrar(...flags);
    await refused(kubelet);
    expect((await registrar.exit()).code).toBe(1);

    const raw = registrar.stderr.trimEnd().split("\n");
    for (const line of raw) expect(line).not.toMatch(UNPRINTABLE);
    const lines = raw.map((line) => READERS[format]?.(line));
    const said = (message: string) => lines.filter((line) => line?.msg === message);
    expect(said("Error retreiving CSI driver name")).toEqual([
      expect.objectContaining({ err: `14 UNAVAILABLE: ${text.slice(0, 1_000)}` }),
    ]);
    expect(said("CSI driver name")).toEqual([
      expect.objectContaining({ vendorVersion: boundText(text, 1_024) }),
    ]);
    expect(said("Received NotifyRegistrationStatus call")).toHaveLength(1);
    const [failure] = said("Registration process failed with error, restarting registration container");
    expect(failure?.err).toContain(boundText(text).slice(0, 4_000));

    const [reason = "", ...rest] = readFileSync(node.terminationLogPath, "utf8").split("\n");
    expect(reason).toMatch(/^kubelet refused the driver: /);
    expect(reason).not.toMatch(UNPRINTABLE);
    expect(rest.join("")).toBe("");
  }),
);
