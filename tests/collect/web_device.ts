// A second client of collections, for web pages, written from docs/reference/collect-wire.md alone: what it sends is
// what the receivers of the package accept. It uses WebCrypto and fetch, and nothing else.
//   node web_device.mjs < request.json
// A request has the collection's text, the operator's key, the keys of the parties, a ticket, and points; with "send"
// the contribution is sent, else it is printed.

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Terms = { [key: string]: any };
type Bytes = Uint8Array<ArrayBuffer>;
type Points = [number, number][];
interface Key {
  text: string;
  seals: Bytes;
  signs: Bytes;
}

const encoder = new TextEncoder();
const subtle = globalThis.crypto.subtle;

// Bytes

function joined(...parts: Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function fromText(text: string): Bytes {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

function asText(bytes: Bytes): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function random(size: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(size));
}

function randomBits(bits: number): bigint {
  const drawn = random(8).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return drawn & ((1n << BigInt(bits)) - 1n);
}

function randomBelow(end: bigint): bigint {
  const bits = end.toString(2).length;
  for (;;) {
    const drawn = randomBits(bits);
    if (drawn < end) return drawn;
  }
}

async function digestOf(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await subtle.digest("SHA-256", bytes));
}

// Canonical JSON: JavaScript's own numbers and strings, and keys in the order of UTF-16 units

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`).join(",")}}`;
}

// Keys

function keyOf(text: string): Key {
  const raw = fromText(text);
  if (raw.length !== 64) throw new Error("not a public key");
  return { text, seals: raw.slice(0, 32), signs: raw.slice(32) };
}

async function isSigned(key: Key, signature: string, purpose: Bytes, text: Bytes): Promise<boolean> {
  const signing = await subtle.importKey("raw", key.signs, { name: "Ed25519" }, false, ["verify"]);
  return subtle.verify({ name: "Ed25519" }, signing, fromText(signature), joined(purpose, Uint8Array.of(0), text));
}

// HPKE, base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM

const KEM = joined(encoder.encode("KEM"), Uint8Array.of(0, 0x20));
const HPKE = joined(encoder.encode("HPKE"), Uint8Array.of(0, 0x20, 0, 1, 0, 1));

async function hmac(key: Bytes, text: Bytes): Promise<Bytes> {
  const made = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await subtle.sign("HMAC", made, text));
}

function extract(suite: Bytes, salt: Bytes, label: string, input: Bytes): Promise<Bytes> {
  const key = salt.length ? salt : new Uint8Array(32);
  return hmac(key, joined(encoder.encode("HPKE-v1"), suite, encoder.encode(label), input));
}

async function expand(
  suite: Bytes, key: Bytes, label: string, info: Bytes, size: number,
): Promise<Bytes> {
  const labelled = joined(Uint8Array.of(0, size), encoder.encode("HPKE-v1"), suite, encoder.encode(label), info);
  return (await hmac(key, joined(labelled, Uint8Array.of(1)))).slice(0, size); // 32 bytes at most, so one block
}

async function seal(receiver: Key, text: Bytes, info: Bytes): Promise<Bytes> {
  const pair = (await subtle.generateKey({ name: "X25519" }, true, ["deriveBits"])) as CryptoKeyPair;
  const own = new Uint8Array(await subtle.exportKey("raw", pair.publicKey));
  const other = await subtle.importKey("raw", receiver.seals, { name: "X25519" }, false, []);
  const common = { name: "X25519", public: other } as unknown as AlgorithmIdentifier;
  const agreed = new Uint8Array(await subtle.deriveBits(common, pair.privateKey, 256));
  const context = joined(own, receiver.seals);
  const none = new Uint8Array();
  const shared = await expand(KEM, await extract(KEM, none, "eae_prk", agreed), "shared_secret", context, 32);
  const hashes = [await extract(HPKE, none, "psk_id_hash", none), await extract(HPKE, none, "info_hash", info)];
  const schedule = joined(Uint8Array.of(0), ...hashes);
  const secret = await extract(HPKE, shared, "secret", none);
  const raw = await expand(HPKE, secret, "key", schedule, 16);
  const iv = await expand(HPKE, secret, "base_nonce", schedule, 12);
  const key = await subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt"]);
  return joined(own, new Uint8Array(await subtle.encrypt({ name: "AES-GCM", iv }, key, text)));
}

// The collection, and whom the device trusts

class Collection {
  private constructor(readonly terms: Terms, readonly parties: { role: string; address: string; key: Key }[],
    readonly digest: Bytes) {}

  static async read(text: string, operator: string, held: string[]): Promise<Collection> {
    const { signature, countersignatures, ...terms } = JSON.parse(text) as Terms;
    const signed = encoder.encode(canonical(terms));
    const by = keyOf(operator);
    if (terms.format !== 2 || terms.operator !== operator) throw new Error("not a collection of this operator");
    if (!(await isSigned(by, signature, encoder.encode("dpheatmap collection"), signed))) throw new Error("not signed");
    const parties = terms.parties.map((party: Terms) => ({ ...party, key: keyOf(party.key) }));
    const found = new Collection(terms, parties, await digestOf(signed));
    if (terms.model !== "local") await found.knowParties(held, countersignatures);
    for (const { address } of parties) {
      const url = new URL(address);
      const here = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
      if (url.protocol !== "https:" && !here) throw new Error("plain http is for this machine only");
    }
    return found;
  }

  purpose(what: string): Bytes {
    return joined(encoder.encode(`dpheatmap ${what} `), this.digest);
  }

  get receivers() {
    return this.terms.model === "shuffle" ? this.parties.slice(0, 1) : this.parties;
  }

  /** Each party needs a key of its own that is held: its own, or one that countersigned for its role. */
  private async knowParties(held: string[], countersignatures: Terms[]): Promise<void> {
    const candidates: string[][] = [];
    for (const { role, key } of this.parties) {
      const mine = held.filter((text) => text === key.text);
      for (const one of countersignatures.filter((one) => one.role === role && held.includes(one.key))) {
        const purpose = this.purpose(`countersignature ${role}`);
        if (await isSigned(keyOf(one.key), one.signature, purpose, new Uint8Array())) mine.push(one.key);
      }
      candidates.push(mine);
    }
    const fits = (number: number, taken: string[]): boolean =>
      number === candidates.length ||
      candidates[number]!.some((key) => !taken.includes(key) && fits(number + 1, [...taken, key]));
    if (!fits(0, [])) throw new Error("a party is not known");
  }
}

// Places: the finest cell of a point, and the cells of a level

function toRoot(domain: Terms, x: number, y: number): [number, number] {
  if (domain.kind === "unit") return [x, y];
  if (domain.kind === "image") {
    const side = 2 ** Math.ceil(Math.log2(Math.max(domain.extent[2], domain.extent[3])));
    return [x / side, y / side];
  }
  if (domain.kind !== "bbox" || domain.extent[2] > 180) throw new Error("a place that this client does not know");
  return [0.5 + x / 360, 0.5 - Math.atanh(Math.tan((y * Math.PI) / 360)) / Math.PI];
}

function rangeOf(domain: Terms): [number, number, number, number] {
  const [x0, y0, x1, y1] = domain.extent as number[];
  const [a, b] = [toRoot(domain, x0!, y0!), toRoot(domain, x1!, y1!)];
  const side = 2 ** domain.depth;
  const low = [0, 1].map((axis) => Math.floor(Math.min(a[axis]!, b[axis]!) * side));
  const high = [0, 1].map((axis) => Math.min(Math.ceil(Math.max(a[axis]!, b[axis]!) * side), side));
  return [low[0]!, low[1]!, high[0]!, high[1]!];
}

function morton(column: number, row: number): number {
  let code = 0;
  for (let bit = 0; bit < 26; bit++) {
    code += ((column >> bit) & 1) * 4 ** bit + ((row >> bit) & 1) * 2 * 4 ** bit;
  }
  return code;
}

/** The Morton codes of the cells of a level that meet the place, ascending. */
function cellsOf(domain: Terms, level: number): number[] {
  const [x0, y0, x1, y1] = rangeOf(domain).map((at) => at / 2 ** (domain.depth - level)) as [number, number, number, number];
  const codes: number[] = [];
  for (let column = Math.floor(x0); column < x1; column++) {
    for (let row = Math.floor(y0); row < y1; row++) codes.push(morton(column, row));
  }
  return codes.sort((a, b) => a - b);
}

/** The cells of a level that points lie in, as numbers in the list of its cells, and the number of points in each. */
function countsOf(domain: Terms, level: number, points: Points): Map<number, number> {
  const [west, south, east, north] = domain.extent as [number, number, number, number];
  const [x0, y0, x1, y1] = rangeOf(domain);
  const place = new Map(cellsOf(domain, level).map((code, at) => [code, at]));
  const found = new Map<number, number>();
  for (const [x, y] of points.filter(([x, y]) => x >= west && x <= east && y >= south && y <= north)) {
    const [u, v] = toRoot(domain, x, y);
    const column = Math.min(Math.max(Math.floor(u * 2 ** domain.depth), x0), x1 - 1);
    const row = Math.min(Math.max(Math.floor(v * 2 ** domain.depth), y0), y1 - 1);
    const at = place.get(Math.floor(morton(column, row) / 4 ** (domain.depth - level)))!;
    found.set(at, (found.get(at) ?? 0) + 1);
  }
  return new Map([...found].sort(([a], [b]) => a - b));
}

// What is sealed: the local model's report

const BITS = 62n;
const ONE = 1n << 256n;

/** An upper bound of 2^256 exp(-p / q), by halving the argument below 1/2, the series cut off above, and squaring. */
function expBound(epsilon: string): bigint {
  const [p, q] = [...epsilon.split("/").map(BigInt), 1n] as [bigint, bigint];
  let halvings = 0n;
  while (2n * p > q << halvings) halvings++;
  const x = (ONE * p) / (q << halvings); // rounded down: exp(-x) is no smaller
  let [sum, term] = [ONE, ONE];
  for (let k = 1n; k <= 80n; k++) {
    term = (term * x) / (k * ONE);
    sum += k % 2n ? -term : term;
  }
  sum += 200n; // more than all that was rounded
  for (let k = 0n; k < halvings; k++) sum = (sum * sum) / ONE + 1n;
  return sum;
}

function reportOf(terms: Terms, points: Points): Bytes {
  const levels = terms.levels as { level: number; share: number; response: string }[];
  let drawn = Number(randomBits(32));
  const chosen = levels.find(({ share }) => (drawn -= share) < 0)!;
  const counts = countsOf(terms.domain, chosen.level, points);
  const total = [...counts.values()].reduce((a, b) => a + b, 0);
  let told: number | null = null;
  if (total) {
    let at = Number(randomBelow(BigInt(total)));
    told = [...counts].find(([, count]) => (at -= count) < 0)![0];
  }
  const sizes = levels.map(({ level, response }) => answerSize(response, cellsOf(terms.domain, level).length));
  const size = cellsOf(terms.domain, chosen.level).length;
  const report = new Uint8Array(1 + Math.max(...sizes));
  report[0] = chosen.level;
  report.set(answerOf(chosen.response, size, told, expBound(terms.epsilon)), 1);
  return report;
}

function answerSize(response: string, size: number): number {
  if (response === "unary") return Math.ceil(size / 8);
  if (response === "direct") return Math.ceil(size.toString(2).length / 8);
  throw new Error("a response that this client does not know");
}

function answerOf(response: string, size: number, told: number | null, t: bigint): Bytes {
  const answer = new Uint8Array(answerSize(response, size));
  if (response === "unary") {
    const flips = ((t << BITS) + ONE + t - 1n) / (ONE + t); // rounded up
    for (let at = 0; at < size; at++) {
      const one = randomBits(62) < (at === told ? 1n << (BITS - 1n) : flips);
      if (one) answer[at >> 3]! |= 128 >> (at & 7);
    }
    return answer;
  }
  const honest = ((ONE - t) << BITS) / (BigInt(size + 1) * t + ONE - t); // rounded down
  let symbol = Number(randomBelow(BigInt(size + 1)));
  if (randomBits(62) < honest) symbol = told ?? size;
  for (let at = answer.length - 1; at >= 0; at--, symbol = Math.floor(symbol / 256)) answer[at] = symbol & 255;
  return answer;
}

// What is sealed: shares of the finest cells

async function streamOf(seed: Bytes, words: number): Promise<BigUint64Array> {
  const key = await subtle.importKey("raw", seed, "AES-CTR", false, ["encrypt"]);
  const counter = { name: "AES-CTR", counter: new Uint8Array(16), length: 128 };
  return new BigUint64Array(await subtle.encrypt(counter, key, new Uint8Array(8 * words)));
}

/** Whole units with the sum B, or nothing: cell c gets ceil(B C_c / T - U) - ceil(B C_(c-1) / T - U). */
function unitsOf(counts: Map<number, number>, units: number): Map<number, bigint> {
  const total = BigInt([...counts.values()].reduce((a, b) => a + b, 0));
  const found = new Map<number, bigint>();
  if (total === 0n) return found;
  const offset = randomBelow(total); // U in steps of 1 / T
  const ceiling = (sum: bigint) => (sum * BigInt(units) - offset + total - 1n) / total;
  let [sum, before] = [0n, 0n];
  for (const [at, count] of counts) {
    sum += BigInt(count);
    const marks = ceiling(sum);
    found.set(at, marks - before);
    before = marks;
  }
  return found;
}

async function sharesOf(terms: Terms, points: Points): Promise<Bytes[]> {
  const level = terms.depth ?? terms.levels.at(-1).level;
  const vector = new BigUint64Array(cellsOf(terms.domain, level).length);
  for (const [at, units] of unitsOf(countsOf(terms.domain, level, points), terms.units)) vector[at] = units;
  const seeds = Array.from({ length: terms.servers - 1 }, () => random(32));
  for (const seed of seeds) {
    const stream = await streamOf(seed, vector.length);
    vector.forEach((word, at) => (vector[at] = word - stream[at]!)); // mod 2^64
  }
  return [new Uint8Array(vector.buffer), ...seeds];
}

// Contributions

async function contributionOf(collection: Collection, ticket: string, points: Points): Promise<Bytes[]> {
  const start = joined(fromText(ticket), random(16));
  const { terms } = collection;
  const contents = terms.model === "local" ? [reportOf(terms, points)] : await sharesOf(terms, points);
  const info = joined(collection.purpose("contribution"), start);
  return Promise.all(
    collection.receivers.map(async ({ key }, number) => joined(start, await seal(key, contents[number]!, info))),
  );
}

async function send(collection: Collection, bodies: Bytes[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const [number, { address }] of collection.receivers.entries()) {
    const url = new URL("/contributions", address);
    const answer = await fetch(url, { method: "POST", body: bodies[number]!, redirect: "error" });
    statuses.push(answer.status);
  }
  return statuses;
}

async function main(): Promise<void> {
  let text = "";
  for await (const piece of process.stdin) text += piece;
  const asked = JSON.parse(text) as Terms;
  if (asked.canonical !== undefined) return console.log(JSON.stringify(asked.canonical.map(canonical)));
  const collection = await Collection.read(asked.collection, asked.operator, asked.parties);
  const found: string[][] = [];
  for (const ticket of asked.tickets) {
    const bodies = await contributionOf(collection, ticket, asked.points);
    if (asked.send) console.log(JSON.stringify(await send(collection, bodies)));
    else found.push(bodies.map(asText));
  }
  if (!asked.send) console.log(JSON.stringify(found));
}

await main();
export { Collection, contributionOf, send };
