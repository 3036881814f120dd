import fc from "fast-check";
import { readRegistrars } from "../../../../src/tools/doctor/files/read/registrars";
import type { Finding } from "../../../../src/tools/doctor/findings/finding";
import { leavesIn, placesIn, replaceAt, treesIn, valueAt } from "../../../support/places";
import {
  BAD,
  daemonSet,
  expectSaid,
  findingsIn,
  OFFICIAL,
  readAs,
  swapIn,
  TOLD,
  verdictsAfterSwapOf,
  verdictsIn,
} from "./one-daemon-set";
import { full, limitRange, official, ofWindows, rich, WORLDS } from "./worlds";

// What holds whatever the objects are: of healthy and of sick ones.

const NAMES = ["x", "x-y", "registrar"];
const changes = fc.record({
  name: fc.constantFrom(...NAMES),
  more: fc.subarray(["--nope", "--http-endpoint=:9809", "--v=x"], { maxLength: 1 }),
  fields: fc.constantFrom({}, { resources: { limits: { memory: "32Mi" } } }, { image: "a:v1" }),
  pod: fc.constantFrom({}, { hostNetwork: true }, { securityContext: { runAsUser: 7 } }),
  registry: fc.constantFrom("/var/lib/kubelet/plugins_registry", "/data/plugins"),
});
const objects = fc
  .array(changes, { minLength: 1, maxLength: 4 })
  .map((all) =>
    all.map(({ fields, ...one }, at) => daemonSet({ ...one, ...fields, name: `${one.name}-${at}` })),
  );

const said = (all: readonly object[]) =>
  findingsIn(all).map(({ code, status, subject, text, fix }) => [code, status, subject, text, fix].join(" "));

test("the order of documents changes nothing", () => {
  const shuffled = objects.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  fc.assert(fc.property(shuffled, ([all, others]) => expect(said(others).sort()).toEqual(said(all).sort())));
});

test("a renaming changes only names", () => {
  const rename = (text: string) => text.replaceAll(/\b(x|x-y|registrar)-(\d)\b/g, "renamed.$1-$2");
  fc.assert(
    fc.property(objects, (all) => {
      const renamed = all.map((one) => ({
        ...one,
        metadata: { ...one.metadata, name: rename(one.metadata.name) },
      }));
      expect(said(renamed)).toEqual(said(all).map(rename));
    }),
  );
});

test("one more healthy, unrelated object changes nothing", () => {
  const args = [
    "--csi-address=/csi/csi.sock",
    "--kubelet-registration-path=/var/lib/kubelet/plugins/w.csi/csi.sock",
  ];
  const plugin = { hostPath: { path: "/var/lib/kubelet/plugins/w.csi" } };
  const well = [
    daemonSet({ name: "well", args, plugin }),
    { kind: "ConfigMap", metadata: { name: "c" }, data: { a: "b" } },
  ];
  fc.assert(fc.property(objects, (all) => expect(said([...all, ...well])).toEqual(said(all))));
});

/** What doctor does not read of this DaemonSet, or what has a finding of its own. */
const ELSEWHERE = /^metadata$|\.configMapRef\b|\.args$|\.args\.|\.httpGet$|initContainers\.0$/;

test("a text in place of a list or a map does not count as an empty one", () => {
  const places = treesIn(rich).filter((path) => !ELSEWHERE.test(path.join(".")));
  expect(places.length).toBeGreaterThan(20);
  const silent = places.filter((path) => {
    const codes = findingsIn([replaceAt(rich, path, "{{ .Values.x }}") as object]).map(({ code }) => code);
    return !codes.includes("CSI113");
  });
  expect(silent).toEqual([]);
});

/** What the API takes as a number or as a text. */
const AS_NUMBER_OR_TEXT = /^(?:port|maxSurge|maxUnavailable|memory|cpu)$/;
/** A value of each other type of JSON, and the same one where a list or a map has it. */
function retyped(path: readonly string[], value: unknown): readonly unknown[] {
  const typeOf = (one: unknown) => (Array.isArray(one) ? "list" : typeof one);
  const own = AS_NUMBER_OR_TEXT.test(path.at(-1) ?? "") ? ["number", "string"] : [typeOf(value)];
  const others = [7, true, "text", [value], { x: value }].filter((one) => !own.includes(typeOf(one)));
  return Array.isArray(value) ? [...others, [value], [...value, null]] : others;
}
const LISTS: readonly ((object: object) => object)[] = [
  (object) => ({ kind: "List", items: [object] }),
  (object) => ({ kind: "DaemonSetList", items: [{ ...object, kind: undefined }] }),
  (object) => ({ kind: "Template", objects: [object] }),
];
test("a field in another type, wherever it decides something, is unread, and never absent or a problem", () => {
  const told = (object: unknown) => {
    const all = [object as object];
    const { findings, swapped } = swapIn(all);
    const told = [verdictsIn(all), findings].flatMap((some) =>
      some.map(({ code, status }) => `${code} ${status}`).sort(),
    );
    return [...told, `${swapped} swapped`];
  };
  const silentIn = (whole: unknown, depth = Number.POSITIVE_INFINITY) => {
    const before = told(whole).join();
    const places = placesIn(whole).filter(({ length }) => length > 0 && length <= depth);
    return places.flatMap((path) => {
      const by = (value: unknown) => told(replaceAt(whole, path, value));
      const isRead = [undefined, ...BAD].some((value) => by(value).join() !== before);
      const isUnread = (all: readonly string[]) =>
        all.includes("CSI113 unknown") && !all.some((one) => /problem|warning/.test(one));
      return (isRead ? retyped(path, valueAt(whole, path)) : [])
        .filter((value) => !isUnread(by(value)))
        .map((value) => `${path.join(".")}: ${JSON.stringify(value).slice(0, 80)}`);
    });
  };
  const lists = LISTS.flatMap((wrap) => silentIn(wrap(daemonSet()), 2));
  const limited = { kind: "List", items: [limitRange, daemonSet()] };
  const all = [limited, full, rich, official, ...ofWindows.slice(1)].map((whole) => silentIn(whole));
  expect([...lists, ...all.flat()]).toEqual([]);
});

test("of a field in another type its path is told, and no field that has the same value", () => {
  const values = new Set(placesIn(full).map((path) => valueAt(full, path)));
  const others = [...values].filter((value) => typeof value !== "string" || ["x", "driver"].includes(value));
  const wrong = placesIn(full).flatMap((path) =>
    others.flatMap((value) => {
      const { gaps } = readRegistrars(readAs("a.yaml", [replaceAt(full, path, value) as object]));
      const fields = gaps.flatMap(({ why }) => (why.kind === "unlike" ? `.${why.field}` : []));
      const name = path.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join("");
      // What is unlike may be in the list or map that it has now.
      return fields.every((field) => field.startsWith(name)) ? [] : `${name} ${fields}`;
    }),
  );
  expect(wrong).toEqual([]);
});

test("a field in a type that the API server refuses is unread, also where doctor needs no value of it", () => {
  const metadata = { labels: { app: "x" } };
  const { template } = rich.spec;
  const whole = { ...rich, spec: { ...rich.spec, template: { ...template, metadata } } };
  const isMeant = (path: readonly string[]) =>
    /^kind$|^spec\.(?:selector|updateStrategy|template\.metadata)\b|\.valueFrom\b/.test(path.join("."));
  const wrong = placesIn(whole)
    .filter(isMeant)
    .flatMap((path) =>
      [...retyped(path, valueAt(whole, path)), ...(path[0] === "kind" ? [undefined, ""] : [])]
        .filter((value) => !/^CSI113 .*$/.test(said([replaceAt(whole, path, value) as object]).join("\n")))
        .map((value) => `${path.join(".")}: ${JSON.stringify(value)}`),
    );
  expect(findingsIn([whole])).toEqual([]);
  expect(wrong).toEqual([]);
});

test("a value that is nested too deeply, wherever it is, hides nothing that another object has", () => {
  const sick = daemonSet({ name: "sick", more: ["--nope"] });
  const expected = verdictsIn([sick]);
  const inLists = LISTS.map((wrap) => wrap(daemonSet({ name: "y" })));
  const deep = Array.from({ length: 5_000 }).reduce<unknown>((one) => ({ x: [one] }), "x");
  for (const whole of [full, limitRange, ...inLists])
    for (const path of placesIn(whole).filter(({ length }) => whole === full || length < 5)) {
      const verdicts = verdictsIn([sick, replaceAt(whole, path, deep) as object]);
      expect(verdicts).toEqual(expect.arrayContaining([...expected]));
    }
});

test("a path in other words is the same path", () => {
  const words: readonly ((path: string) => string)[] = [
    (path) => path.replaceAll(/(?<=[a-z])\/(?=[a-z])/g, "//"),
    (path) => path.replaceAll(/(?<=[a-z])\/(?=[a-z])/g, "/./"),
    (path) => path.replace(/(?<=^|=)\/run\//, "/var/run/"),
    (path) => (/^\/|sock$/.test(path) && !/sock$/.test(path) ? `${path}/` : path),
  ];
  const told = (object: unknown) => verdictsIn([object as object]).map(({ code, status }) => code + status);
  const inRun = JSON.parse(JSON.stringify(full).replaceAll("/var/lib/kubelet", "/run/kubelet"));
  const wrong = [full, inRun].flatMap((whole) =>
    leavesIn(whole).flatMap((path) => {
      const value = valueAt(whole, path);
      const others =
        typeof value === "string" && path.at(-2) !== "httpGet" ? words.map((word) => word(value)) : [];
      const isOther = (other: string) => told(replaceAt(whole, path, other)).join() !== told(whole).join();
      return others.filter(isOther);
    }),
  );
  expect(wrong).toEqual([]);
});

test("a registrar of another kind, where doctor does not look, is unread", () => {
  const { spec, ...more } = daemonSet();
  const { containers: own, ...pod } = spec.template.spec;
  const custom = (template: unknown) => [daemonSet(), { ...more, kind: "CustomSet", spec: { template } }];
  const ofText = { spec: { containerz: { args: TOLD } } };
  const all = [
    { spec: { ...pod, containers: { ...own } } },
    [{ spec: spec.template.spec }],
    { pod: own },
    ofText,
  ];
  for (const template of all)
    expectSaid(said(custom(template)), [
      /^CSI113 unknown .* it has a registrar.s arguments, and its kind .* give the DaemonSet that/,
    ]);
  expectSaid(said([{ ...daemonSet(), kind: 5 }]), [/^CSI113 unknown .* its kind has 5 where a text must be/]);
  expectSaid(said(custom({ spec: { containers: { main: { args: ["--v=2"] } } } })), []);
});

test("a placeholder where some value would be a problem is unknown", () => {
  const isBad = (object: object) =>
    verdictsIn([object]).some(({ status }) => status === "problem" || status === "warning");
  const silent = [...WORLDS, full].flatMap((whole) =>
    leavesIn(whole).filter((path) => {
      const verdicts = verdictsIn([replaceAt(whole, path, "{{ .Values.x }}") as object]);
      const isKnown = verdicts.length > 0 && !verdicts.some(({ status }) => status === "unknown");
      return isKnown && BAD.some((value) => isBad(replaceAt(whole, path, value) as object));
    }),
  );
  expect(silent.map((path) => path.join("."))).toEqual([]);
});

test.each(["{{ .Values.x }}", `\${X}`, "@X@"])(
  "a field called %s may be any that is absent",
  (placeholder) => {
    const known = WORLDS.flatMap((whole) =>
      treesIn(whole).flatMap((path) => {
        const own = Object(valueAt(whole, path)) as object;
        if (Array.isArray(own) || !path.includes("spec") || path.at(-1) === "labels") return [];
        return Object.entries(own).flatMap(([name, value]) => {
          const fields = { ...own, [name]: undefined, [placeholder]: value };
          const told = verdictsIn([replaceAt(whole, path, fields) as object]);
          const statuses = told.map(({ status }) => status).filter((status) => status !== "ok");
          return statuses.join() === "unknown" ? [] : [[...path, name].join(".")];
        });
      }),
    );
    expect(known).toEqual([]);
  },
);

test.each(["{{ .Values.x }}", `\${X}`, "<x>", "@X@", "%ROOT%", "__X__"])(
  "a placeholder %s, wherever it stands, makes no problem, and nothing that a swap is known to change",
  (placeholder) => {
    expect(findingsIn(WORLDS)).toEqual([]);
    const wrong = WORLDS.flatMap((whole) => {
      const { swapped } = swapIn([whole]);
      return leavesIn(whole).flatMap((path) => {
        const replaced = [replaceAt(whole, path, placeholder) as object];
        const { findings, swapped: now } = swapIn(replaced);
        const told = [...findingsIn(replaced), ...findings].filter(
          ({ status, code }) => status === "problem" || (status === "warning" && code === "CSI110"),
        );
        const count = now === null || now === swapped ? [] : [`${swapped} swapped, ${now} with it`];
        return [...told.map(({ code, text }) => `${code} ${text}`), ...count].map(
          (one) => `${path.join(".")}: ${one}`,
        );
      });
    });
    expect(wrong).toEqual([]);
  },
);

/** It starts all programs that a container may name, each from its image. */
const programs = daemonSet({
  command: ["/csi-node-driver-registrar"],
  livenessProbe: { exec: { command: ["/csi-node-driver-registrar", "--mode=health-probe", TOLD] } },
  startupProbe: { exec: { command: ["/csi-node-driver-registrar", "--version"] } },
  lifecycle: { postStart: { exec: { command: ["/csi-node-driver-registrar", "--version"] } } },
  resources: { limits: { cpu: "500m", memory: "100Mi" } },
  pod: { nodeSelector: { "kubernetes.io/arch": "amd64" } },
});
/** Programs that our image does not have, and nodes for which it is not built. */
const FOREIGN = ["sh", "/bin/sh", "/usr/bin/csi-node-driver-registrar", "/csi/check", "ppc64le", "10m"];

test("what is said of our image after a swap is said where the file has it already", () => {
  const { containers: all } = programs.spec.template.spec;
  const at = ["spec", "template", "spec", "containers", "0"];
  expect(valueAt(programs, at)).toBe(all[0]);
  const told = (findings: readonly Finding[]) =>
    findings
      .map(({ code, status, text, fix }) => [code, status, text, fix].join(" "))
      .map((line) => line.replace(", or keep the official image there", ""));
  const differs = (object: object) => {
    const [swapped, ours] = [OFFICIAL, "registrar:v1"].map((image) =>
      replaceAt(object, [...at, "image"], image),
    ) as [object, object];
    const after = verdictsAfterSwapOf([swapped]);
    return after !== undefined && told(after).join("\n") !== told(verdictsIn([ours])).join("\n");
  };
  // Another container with the official image would be swapped, too.
  const placesOfOne = (whole: object) => leavesIn(whole).filter((path) => path.at(-1) !== "image");
  const wrong = [programs, rich, full].flatMap((whole) =>
    placesOfOne(whole).flatMap((path) =>
      [undefined, 7, "windows", ...FOREIGN, "{{ x }}"]
        .filter((value) => differs(replaceAt(whole, path, value) as object))
        .map((value) => `${path.join(".")}: ${value}`),
    ),
  );
  expect(wrong).toEqual([]);
});
