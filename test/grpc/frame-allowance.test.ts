import { createFrameAllowance } from "../../src/grpc/frame-allowance";

const TOO_MANY = "200 frames that lead to no call";

function allowanceAt(clock: { ms: number }, { callsAtATime = 4 } = {}) {
  const { spend, renew, sent } = createFrameAllowance(callsAtATime, () => clock.ms);
  const spendAll = (count: number) => {
    for (let spent = 0; spent < count; spent++) spend();
  };
  return { spend, renew, sent, spendAll };
}

test("200 frames are taken, and not one more", () => {
  const { spend, spendAll } = allowanceAt({ ms: 0 });
  spendAll(200);
  expect(spend).toThrow(TOO_MANY);
});

test("an answered call gives all of them back, and no more", () => {
  const { spend, renew, spendAll } = allowanceAt({ ms: 0 });
  spendAll(150);
  renew();
  spendAll(200);
  expect(spend).toThrow(TOO_MANY);
});

test("a second gives two back for each call at a time, also in parts; a long time no more than 200", () => {
  const clock = { ms: 0 };
  const { spend, spendAll } = allowanceAt(clock);
  spendAll(200);
  clock.ms = 124;
  expect(spend).toThrow(TOO_MANY);
  clock.ms = 125;
  spend();
  expect(spend).toThrow(TOO_MANY);
  clock.ms = 1_125;
  spendAll(8);
  expect(spend).toThrow(TOO_MANY);
  clock.ms = 1e9;
  spendAll(200);
  expect(spend).toThrow(TOO_MANY);
});

test("where more calls may run, more may be given up: all of them every second, for ever", () => {
  const clock = { ms: 0 };
  const { spendAll } = allowanceAt(clock, { callsAtATime: 64 });
  for (; clock.ms < 1_000_000; clock.ms += 1_000) spendAll(2 * 64);
  spendAll(16 * 64 - 2 * 64);
  expect(() => spendAll(2 * 64 + 1)).toThrow("1024 frames that lead to no call");
});

test("what we send may be acknowledged: a frame for each kilobyte, and no more than 200 at a time", () => {
  const { spend, sent, spendAll } = allowanceAt({ ms: 0 });
  spendAll(200);
  sent(1_023);
  expect(spend).toThrow(TOO_MANY);
  sent(1);
  spend();
  expect(spend).toThrow(TOO_MANY);
  sent(1e9);
  spendAll(200);
  expect(spend).toThrow(TOO_MANY);
});

test("the clock is the process' own where none is given", () => {
  const { spend } = createFrameAllowance(1);
  expect(() => {
    for (let spent = 0; spent < 1_000_000; spent++) spend();
  }).toThrow(TOO_MANY);
});
