// Limits on requests, as providers have them. N is the number that each is about.
//
//   window N         a second, counted from the first request on; Retry-After: 1
//   bucket N         a second, and as many at once after a rest; Retry-After: 1
//   headers N        the same, and says what is left in its headers
//   concurrency N    at once; no Retry-After
//
// Without a name there is no limit.

const NONE = { admit: () => ({ isAccepted: true, headers: {} }), end() {} };
const ONE_SECOND = { "retry-after": "1" };

export function openLimiter(name, n) {
  switch (name) {
    case "window":
      return { ...NONE, admit: openWindow(n) };
    case "bucket":
    case "headers":
      return { ...NONE, admit: openBucket(n, name === "headers") };
    case "concurrency":
      return openConcurrency(n);
    default:
      return NONE;
  }
}

function openWindow(perSecond) {
  let began;
  let used = 0;
  return () => {
    const now = performance.now();
    began ??= now;
    if (now - began >= 1000) {
      began += 1000 * Math.floor((now - began) / 1000);
      used = 0;
    }
    used += 1;
    return used <= perSecond ? { isAccepted: true, headers: {} } : { isAccepted: false, headers: ONE_SECOND };
  };
}

function openBucket(perSecond, sendsHeaders) {
  let tokens = perSecond;
  let filledAt = performance.now();
  return () => {
    const now = performance.now();
    tokens = Math.min(perSecond, tokens + ((now - filledAt) * perSecond) / 1000);
    filledAt = now;
    const isAccepted = tokens >= 1;
    if (isAccepted) tokens -= 1;
    const left = Math.floor(tokens);
    const headers = sendsHeaders && {
      "x-ratelimit-limit-requests": String(perSecond),
      "x-ratelimit-remaining-requests": String(left),
      "x-ratelimit-reset-requests": `${Math.ceil(((perSecond - left) / perSecond) * 1000)}ms`,
    };
    return { isAccepted, headers: { ...headers, ...(!isAccepted && ONE_SECOND) } };
  };
}

function openConcurrency(limit) {
  let inFlight = 0;
  return {
    admit() {
      if (inFlight >= limit) return { isAccepted: false, headers: {} };
      inFlight += 1;
      return { isAccepted: true, headers: {} };
    },
    end: () => void (inFlight -= 1),
  };
}
