import type { ArticleHead } from '../data/team/knowledge.ts'
import { t } from '../text/index.ts'
import { Chip, type Tone } from '../ui/Chip.tsx'

/** Languages that are searched by the forms of their words; any other code can be imported. */
const codes = [
  ...['pt', 'es', 'en', 'ar', 'hy', 'eu', 'ca', 'da', 'nl', 'fi', 'fr', 'de', 'el', 'hi', 'hu', 'id', 'ga', 'it'],
  ...['lt', 'ne', 'nb', 'ro', 'ru', 'sr', 'sv', 'ta', 'tr', 'yi', 'zh', 'ja', 'ko', 'pl', 'uk', 'he'],
]

export const languageCodes = (current?: string): string[] =>
  current === undefined || codes.includes(current) ? codes : [current, ...codes]

type State = keyof typeof t.knowledge.statuses

const tones: Partial<Record<State, Tone>> = { published: 'good', expired: 'attention', upcoming: 'attention' }

/** A published article is not found before and after it is valid. */
export function stateOf({ status, validFrom, validUntil }: ArticleHead, now: Date): State {
  if (status !== 'published') return status
  if (validFrom !== null && new Date(validFrom) > now) return 'upcoming'
  return validUntil !== null && new Date(validUntil) <= now ? 'expired' : 'published'
}

export function StatusChip({ article }: { article: ArticleHead }) {
  const state = stateOf(article, new Date())
  return <Chip tone={tones[state] ?? 'plain'}>{t.knowledge.statuses[state]}</Chip>
}
