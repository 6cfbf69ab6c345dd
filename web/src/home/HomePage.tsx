import { Anchor, SegmentedControl } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useStats } from '../data/stats.ts'
import { mayIn } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Loaded, PageBody } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { AnswerTimes } from './AnswerTimes.tsx'
import { AttentionList } from './AttentionList.tsx'
import { Figures } from './Figures.tsx'
import { GettingStarted } from './GettingStarted.tsx'
import styles from './HomePage.module.css'
import { LeadCharts } from './LeadCharts.tsx'
import { QuotaMeter } from './QuotaMeter.tsx'
import { type HomeDays, homeDays } from './search.ts'

const usualDays = 30

/** What needs somebody now, and how the last days went. */
export function HomePage() {
  const workspaceId = useWorkspaceId()
  const { days = usualDays } = useSearch({ from: '/w/$workspaceId/home' })
  const navigate = useNavigate()
  const query = useStats(workspaceId, days)
  return (
    <>
      <PageHeader
        title={t.common.pages.home}
        action={
          <Anchor href="/docs" target="_blank" rel="noreferrer" size="sm" className={styles.reference}>
            {t.home.reference}
          </Anchor>
        }
      >
        <SegmentedControl
          size="xs"
          aria-label={t.home.span}
          data={homeDays.map((one) => ({ value: String(one), label: t.home.spans[one] }))}
          value={String(days)}
          onChange={(chosen) =>
            void navigate({
              to: '/w/$workspaceId/home',
              params: { workspaceId },
              search: Number(chosen) === usualDays ? {} : { days: Number(chosen) as HomeDays },
              replace: true,
            })
          }
        />
      </PageHeader>
      <PageBody>
        <Loaded query={query} rows={8}>
          {(stats) => (
            <div className={styles.page}>
              {mayIn(workspaceId, 'admin') && (
                <GettingStarted workspaceId={workspaceId} hasLeads={stats.leads.total > 0} />
              )}
              <AttentionList workspaceId={workspaceId} attention={stats.attention} />
              <Figures stats={stats} />
              <LeadCharts workspaceId={workspaceId} stats={stats} />
              <AnswerTimes stats={stats} />
              <QuotaMeter quota={stats.quota} />
            </div>
          )}
        </Loaded>
      </PageBody>
    </>
  )
}
