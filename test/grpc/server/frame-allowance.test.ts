import { createFrameAllowance } from "../../../src/grpc/server/frame-allowance";

const TOO_MANY = "200 frames that lead to no call";

function allowanceAt(clock: { ms: number }) {
  const { spend, renew } = createFrameAllowance(() => clock.ms);
  const spendAll = (count: number) => {
    for (let spent = 0; spent < count; spent++) spend();
  };
  return { spend, renew, spendAll };
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

test("a second gives 8 back, also in parts; a long time no more than 200", () => {
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
