import { stripVTControlCharacters } from "node:util";
import {
  createStoryteller,
  detectScreen,
  type Storyteller,
} from "../../../../src/cli/commands/demo/storyteller";

test.each([
  ["a terminal", { isTTY: true, columns: 80 }, {}, [true, true, 80]],
  ["a wide terminal", { isTTY: true, columns: 300 }, {}, [true, true, 110]],
  ["with NO_COLOR", { isTTY: true, columns: 80 }, { NO_COLOR: "1" }, [true, false, 80]],
  ["with an empty NO_COLOR", { isTTY: true, columns: 80 }, { NO_COLOR: "" }, [true, true, 80]],
  ["a dumb terminal", { isTTY: true, columns: 80 }, { TERM: "dumb" }, [false, false, 80]],
  ["a pipe", {}, { TERM: "xterm" }, [false, false, 110]],
])("%s", (_, stream, env, [rewrites, colours, columns]) => {
  expect(detectScreen(stream, env)).toEqual({ rewrites, colours, columns });
});

/** What a story looks like on a screen. */
function written(
  screen: Parameters<typeof createStoryteller>[0],
  tell: (teller: Storyteller) => void,
): string {
  const write = jest.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    tell(createStoryteller(screen));
    return write.mock.calls.map(([text]) => text).join("");
  } finally {
    write.mockRestore();
  }
}

const plain = { rewrites: false, colours: false, columns: 40 };

test("a long text goes on under its beginning", () => {
  expect(written(plain, (teller) => teller.step(1, 1234, "Kubelet asks the driver itself, and waits"))).toBe(
    "   1   1.23 s  Kubelet asks the driver\n               itself, and waits\n",
  );
});

test("a pipe gets no escape and no progress line", () => {
  const text = written(plain, (teller) => {
    teller.heading("Title", "About it.");
    teller.waitFor("kubelet")();
    teller.complain("in vain");
  });
  expect(text).toBe("\nTitle\n   About it.\n\n   ✗  in vain\n");
});

test("a terminal gets both, and the progress line is erased", () => {
  jest.useFakeTimers();
  const text = written({ rewrites: true, colours: true, columns: 30 }, (teller) => {
    const done = teller.waitFor("kubelet to ask the registrar");
    jest.advanceTimersByTime(100);
    done();
    jest.advanceTimersByTime(1000);
  });
  jest.useRealTimers();
  const [before, drawn = "", after, ...more] = text.split("\r\u001b[2K");
  expect([before, after, more]).toEqual(["", "", []]);
  expect(drawn).toContain("waiting for");
  expect(stripVTControlCharacters(drawn)).toHaveLength(29);
});
