import { Anchor, Group, SegmentedControl } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { type Stats, useStats } from '../data/stats.ts'
import { mayIn } from '../session/session.ts'
import { t } from '../text/index.ts'
import { number } from '../ui/format/time.ts'
import { Loaded, PageBody } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useChangeSearch } from '../ui/use-newest-search.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { AnswerTimes } from './AnswerTimes.tsx'
import { AttentionList } from './AttentionList.tsx'
import { CsvMenu } from './CsvMenu.tsx'
import { Figures } from './Figures.tsx'
import { GettingStarted } from './GettingStarted.tsx'
import { Groups } from './Groups.tsx'
import styles from './HomePage.module.css'
import { LeadCharts } from './LeadCharts.tsx'
import { type HomeDays, homeDays, readHomeSearch } from './search.ts'

const usualDays = 30

/** What needs somebody now, and how the last days went. */
export function HomePage() {
  const workspaceId = useWorkspaceId()
  const { days = usualDays } = useSearch({ from: '/w/$workspaceId/home' })
  const changeSearch = useChangeSearch(readHomeSearch)
  const query = useStats(workspaceId, days)
  return (
    <>
      <PageHeader
        title={t.common.pages.home}
        action={
          <Group gap="sm" wrap="nowrap">
            <Anchor href="/docs" target="_blank" rel="noreferrer" size="sm" className={styles.reference}>
              {t.home.reference}
            </Anchor>
            <CsvMenu stats={query.data} days={days} />
          </Group>
        }
      >
        <SegmentedControl
          size="xs"
          aria-label={t.home.span}
          data={homeDays.map((one) => ({ value: String(one), label: t.home.spans[one] }))}
          value={String(days)}
          onChange={(chosen) =>
            changeSearch(() => (Number(chosen) === usualDays ? {} : { days: Number(chosen) as HomeDays }), {
              replace: true,
            })
          }
        />
      </PageHeader>
      <PageBody>
        <Loaded query={query} rows={8}>
          {(stats) => (
            <div className={styles.page}>
              {mayIn(workspaceId, 'admin') && <GettingStarted hasLeads={stats.leads.total > 0} />}
              <AttentionList attention={stats.attention} />
              <Figures stats={stats} chosenDays={days} />
              <LeadCharts stats={stats} />
              <AnswerTimes stats={stats} />
              <Groups days={days} />
              <QuotaMeter quota={stats.quota} />
            </div>
          )}
        </Loaded>
      </PageBody>
    </>
  )
}

const near = 0.8

/** How much of what the day allows is used. */
function QuotaMeter({ quota: { used, limit } }: { quota: Stats['quota'] }) {
  const texts = t.home.quota
  const part = limit === null ? 0 : Math.min(1, used / Math.max(1, limit))
  const tone = part >= 1 ? 'bad' : part >= near ? 'attention' : undefined
  return (
    <section className={styles.card} aria-label={texts.title}>
      <h2 className={styles.title}>{texts.title}</h2>
      {limit !== null && (
        <div className={styles.meter} aria-hidden="true">
          <div data-tone={tone} style={{ width: `${100 * part}%` }} />
        </div>
      )}
      <p className={styles.quiet}>
        {limit === null ? texts.unlimited(number(used)) : texts.used(number(used), number(limit))}
      </p>
    </section>
  )
}
