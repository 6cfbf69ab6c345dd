import assert from 'node:assert/strict'

/** A call that the guide for agents shows, with what is answered; or what happens between two of them. */
export type GuideStep =
  | { type: 'call'; method: 'GET' | 'POST' | 'PATCH'; path: string; status: number; body: unknown; shows: string }
  | { type: 'customer'; text: string }
  | { type: 'hand_back'; summary: string; nextStep: string }

const parts = /^```http\n([\s\S]*?)^```\n+```json\n([\s\S]*?)^```$|^> (\w+) (writes|hands it back): (.*)$/gm

/** The steps of the guide, in order. `fill` puts values in the place of the names in angle brackets. */
export function* guideSteps(guide: string, fill: (text: string) => string): Generator<GuideStep> {
  for (const [, call, shows = '', , does, words = ''] of guide.matchAll(parts)) {
    if (call !== undefined) yield callOf(fill(call), shows)
    else if (does === 'writes') yield { type: 'customer', text: words }
    else {
      const [summary = '', nextStep = ''] = words.split(' / ')
      yield { type: 'hand_back', summary, nextStep }
    }
  }
}

function callOf(call: string, shows: string): GuideStep {
  const [first = '', ...rest] = call.trim().split('\n')
  const [, method, path = '', status = '200'] = /^(GET|POST|PATCH) (\S+)(?: (\d{3}))?$/.exec(first) ?? []
  assert.ok(method === 'GET' || method === 'POST' || method === 'PATCH', `a call begins with its method: ${first}`)
  const text = rest.join('\n')
  const body = text === '' ? undefined : JSON.parse(text)
  return { type: 'call', method, path, status: Number(status), body, shows }
}
