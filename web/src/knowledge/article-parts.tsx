import type { UseQueryResult } from '@tanstack/react-query'
import type { ArticleHead, ArticleInput } from '../data/team/knowledge.ts'
import { language, t } from '../text/index.ts'
import { Chip, type Tone } from '../ui/Chip.tsx'
import { BackLink } from '../ui/page/BackLink.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'

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

/** Returns the input of an article that is not saved yet, in the language of the app. */
export const newArticle = ({ title, body } = { title: '', body: '' }): ArticleInput => ({
  ...{ kind: 'article', language, title, body, tags: [], keyIds: null, validFrom: null, validUntil: null },
})

/** Page of an article or a draft that has not loaded. */
export function LoadingPage<T>({ query }: { query: UseQueryResult<T> }) {
  return (
    <>
      <PageHeader title={t.knowledge.title} before={<BackLink path="knowledge" label={t.knowledge.title} />} />
      <QueryBoundary query={query}>{() => null}</QueryBoundary>
    </>
  )
}
