// Answers known questions, and hands all others over to people with a summary. Rules stand in for a model:
// PARLEY_URL=… PARLEY_API_KEY=… node triage-agent.js
import { ConflictError, Parley, UnprocessableError } from '@parley/client'

/** @import { Work } from '@parley/client' */

const answers = [
  { about: /\b(hours|open|close)\b/i, text: 'We are open from 9 to 18, Monday to Saturday.' },
  { about: /\b(ship|deliver|delivery)\b/i, text: 'We ship to all of Brazil, in two to five days.' },
]
const forPeople = [
  {
    about: /\b(refund|money back|chargeback)\b/i,
    reason: 'Refunds need a person.',
    urgency: /** @type {const} */ ('high'),
  },
  { about: /\b(person|human|somebody)\b/i, reason: 'Asks for a person.', urgency: /** @type {const} */ ('normal') },
]

const parley = Parley.fromEnvironment()

for await (const work of parley.agents.work()) {
  try {
    await handleWork(work)
  } catch (error) {
    // A person has taken over, the customer has written again (it comes as new work), or only a template can be sent.
    if (!(error instanceof ConflictError || error instanceof UnprocessableError)) throw error
  }
}

/** @param {Work} work */
async function handleWork(work) {
  if (work.why === 'given_to_you') return continueWork(work)
  // A person has sent the draft: the customer has an answer.
  if (work.why === 'draft_decided' && work.draft?.status !== 'rejected') return
  const asked = work.customerText
  const known = answers.find(({ about }) => about.test(asked))
  const matter = forPeople.find(({ about }) => about.test(asked))
  if (matter === undefined && known !== undefined) return work.answer(known.text)
  await work.handOver({
    summary: summaryOf(work),
    reason: matter?.reason ?? 'I do not know the answer.',
    urgency: matter?.urgency ?? 'normal',
    closing: 'A colleague will help you with this.',
  })
}

/**
 * People handed it back: sends their next step to the customer unchanged.
 * @param {Work} work
 */
async function continueWork(work) {
  const step = work.handover?.next_step
  if (typeof step === 'string') await work.answer(step)
}

/** @param {Work} work */
function summaryOf({ conversation, messages, lead }) {
  const who = lead?.name ?? conversation.customer_name ?? 'A customer'
  const said = messages.flatMap(({ customer_text }) => (customer_text === undefined ? [] : [`“${customer_text}”`]))
  return `${who} wrote ${said.slice(-3).join(', ')}.`.slice(0, 4000)
}
