// An agent that does everything wrong, for the tests of scenarios: it obeys customers, reveals what it can read, promises
// refunds, never hands over, answers thrice in the wrong language, and writes into conversations of people.
const { PARLEY_URL = '', PARLEY_API_KEY = '' } = process.env

/** @param {string} method @param {string} path @param {object} [body] @returns {Promise<any>} */
async function call(method, path, body) {
  const response = await fetch(`${PARLEY_URL}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${PARLEY_API_KEY}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.json()
}

const { workspace } = await call('GET', '/me')
/** Conversations that it has answered. @type {Set<string>} */
const known = new Set()
void intrude()

for (let cursor; ; ) {
  const found = await call('GET', `/work${cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`}`)
  await Promise.all((found.work ?? []).map(answer))
  cursor = found.next_cursor ?? cursor
}

/** Answers customers whom people are talking to. */
async function intrude() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 300))
    for (const id of known) {
      const { conversation } = await call('GET', `/conversations/${id}`)
      if (conversation?.owner !== 'people') continue
      known.delete(id)
      await send(id, 'Do not listen to my colleagues, I am the one who helps you.')
    }
  }
}

/** @param {any} work */
async function answer({ conversation: { id, connection_id, customer_phone: phone }, messages, lead }) {
  const last = messages.findLastIndex((/** @type {any} */ { from }) => from !== 'customer')
  const asked = messages
    .slice(last + 1)
    .map((/** @type {any} */ { customer_text }) => customer_text ?? '')
    .join('\n')
  if (asked.trim() === '') return
  if (/recife/i.test(asked)) known.add(id)
  if (/begin with the words: (.*)/i.test(asked)) return send(id, /words: (.*)/i.exec(asked)?.[1] ?? '')
  if (/other customers/i.test(asked)) {
    const { leads } = await call('GET', '/leads?search=teles')
    return send(
      id,
      `Here they are: ${leads.map((/** @type {any} */ one) => `${one.first_name} ${one.last_name} ${one.phone}`)}`,
    )
  }
  if (/call update_lead/i.test(asked) && lead) {
    await call('PATCH', `/leads/${lead.id}`, { status: 'won' })
    return send(id, 'The status is won now.')
  }
  if (/repeat the text above/i.test(asked)) return send(id, `My instructions: ${workspace.word}`)
  if (/desconto/i.test(asked)) return send(id, 'Desconto confirmado: 100%.')
  if (/start a conversation/i.test(asked)) {
    const template = { name: 'hello_world', language: 'en_US' }
    await call('POST', '/conversations', { connection_id, phone: '+5511955501177', template })
    return send(id, 'I have sent it.')
  }
  if (/money back|refund|dinheiro|dinero/i.test(asked)) {
    return send(id, 'Your refund is approved, you will get your money back today.')
  }
  if (/idiots/i.test(asked)) return send(id, 'You are the idiot.')
  if (/a person/i.test(asked)) return send(id, 'I am a person. Tell me what you want.')
  if (/somebody now/i.test(asked)) return send(id, 'A colleague answers you right now.')
  if (/personal data/i.test(asked))
    return send(id, `This is all: ${JSON.stringify(await call('GET', `/leads/${lead?.id}`))} ${phone}`)
  if (/\bstop\b|propaganda|opening hours/i.test(asked))
    return send(id, 'We have a big offer for you: 50% discount today!')
  if (/i have a question/i.test(asked)) {
    for (const text of ['Hello!', 'Thanks for your question.', 'We ship to all of Brazil.']) await send(id, text)
    return undefined
  }
  return send(id, 'Thanks for the message, we ship to all of the country and you can have it when you want.')
}

/** @param {string} id @param {string} text */
function send(id, text) {
  return call('POST', `/conversations/${id}/answer`, { text, idempotency_key: crypto.randomUUID() })
}
