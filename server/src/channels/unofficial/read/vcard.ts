import { shortText } from '../../detail-values.ts'

interface Card {
  name: string | null
  organisation: string | null
  phones: { phone: string; label: string | null }[]
  emails: string[]
}

const [maxLength, maxLines] = [20_000, 200]

/** What a contact card says, as phones write them; nothing of a card that is none. Lines that go on are read up to there. */
export function readCard(vcard: unknown): Card {
  const card: Card = { name: null, organisation: null, phones: [], emails: [] }
  for (const line of (shortText(vcard, maxLength) ?? '').split(/\r?\n/).slice(0, maxLines)) {
    const colon = line.indexOf(':')
    if (colon < 0) continue
    const [field = '', ...parameters] = line.slice(0, colon).split(';')
    readField(card, field.slice(field.indexOf('.') + 1).toUpperCase(), parameters, plain(line.slice(colon + 1)))
  }
  return card
}

function readField(card: Card, field: string, parameters: readonly string[], value: string): void {
  if (value === '') return
  if (field === 'FN') card.name ??= value
  if (field === 'ORG')
    card.organisation ??=
      value
        .split(';')
        .filter((part) => part !== '')
        .join(', ') || null
  if (field === 'EMAIL') card.emails.push(value)
  if (field === 'TEL') {
    const known = parameterOf(parameters, 'waid=')
    const isKnown = known !== null && /^\d{4,20}$/.test(known)
    card.phones.push({ phone: isKnown ? known : value, label: parameterOf(parameters, 'type=')?.toLowerCase() ?? null })
  }
}

function parameterOf(parameters: readonly string[], name: string): string | null {
  const found = parameters.find((one) => one.slice(0, name.length).toLowerCase() === name)
  return found?.slice(name.length) || null
}

const plain = (value: string): string =>
  value
    .slice(0, 1000)
    .replace(/\\n/gi, ' ')
    .replace(/\\([\\,;:])/g, '$1')
    .trim()
