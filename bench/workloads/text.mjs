// Text as models write and read it, the same in every run.

const PROSE = [
  'The report of the second quarter shows that "net" revenue rose by 4.2 % over the year before.\n',
  "Most of the growth came from subscriptions; hardware sales fell for the third time in a row. ",
  "- Costs of support grew more slowly (1.1 %), thanks to the new help pages\n",
  "See `finance/q2.csv`, column C, for the numbers by region, and ask Anne about the outlier in May. ",
  "I would rather wait for the audited figures before we tell the board anything about 2025. ",
];

const CJK = [
  "第二季度的报告显示，净收入比去年同期增长了百分之四点二，主要来自海外市场。📈",
  "ハードウェアの売上は三期連続で減少しましたが、サブスクリプションは好調です。🎉\n",
  "고객 지원 비용은 새로운 도움말 덕분에 더 느리게 증가했습니다. 👍🏽",
];

/** English prose with quotes and line breaks, of `length` characters. */
export const prose = (length, seed = 0) => filled(PROSE, length, seed);

/** Chinese, Japanese and Korean prose with emoji, of `length` UTF-16 units. */
export const cjk = (length, seed = 0) => filled(CJK, length, seed).toWellFormed();

/** Base64 of `length` characters. */
export function base64(length, seed = 0) {
  const bytes = Buffer.alloc(Math.ceil((length * 3) / 4));
  let state = seed + 1;
  for (let index = 0; index < bytes.length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes.toString("base64").slice(0, length);
}

function filled(sentences, length, seed) {
  const parts = [`${seed}: `];
  for (let size = parts[0].length, index = seed; size < length; index++) {
    const sentence = sentences[index % sentences.length];
    parts.push(sentence);
    size += sentence.length;
  }
  // A flat string. A lazily joined one would be flattened during a measurement.
  return Buffer.from(parts.join("").slice(0, length)).toString();
}
