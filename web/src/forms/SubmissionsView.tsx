import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useSubmissions } from '../data/forms.ts'
import { t } from '../text/index.ts'
import { fullMoment } from '../ui/format/time.ts'
import { Empty } from '../ui/page/Empty.tsx'
import { Loaded, PageBody } from '../ui/page/PageBody.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface Submission {
  id: string
  leadId: string
  lead: { name: string } | null
  submittedAt: string
}

/** What came by a form: each is a lead. */
export function SubmissionsView({ formId }: { formId: string }) {
  const workspaceId = useWorkspaceId()
  const query = useSubmissions(workspaceId, formId)
  return (
    <PageBody narrow>
      <Loaded query={query}>
        {({ pages }) => {
          const submissions = pages.flatMap((page) => page.submissions)
          if (submissions.length === 0) return <Empty title={t.forms.noSubmissions} />
          return (
            <>
              <Table label={t.forms.submissions} columns={columns()} rows={submissions} keyOf={({ id }) => id} />
              {query.hasNextPage && (
                <Button
                  mt="md"
                  variant="default"
                  loading={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  {t.forms.older}
                </Button>
              )}
            </>
          )
        }}
      </Loaded>
    </PageBody>
  )
}

const columns = (): Column<Submission>[] => [
  {
    key: 'lead',
    title: t.forms.lead,
    cell: (submission) => <LeadLink submission={submission} />,
  },
  { key: 'when', title: t.forms.when, cell: ({ submittedAt }) => fullMoment(submittedAt), whole: true },
]

function LeadLink({ submission }: { submission: Submission }) {
  const workspaceId = useWorkspaceId()
  const { leadId, lead } = submission
  if (lead === null) return t.forms.leadGone
  return (
    <Link to={leadsPage} params={{ workspaceId }} search={{ lead: leadId } as object}>
      {lead.name}
    </Link>
  )
}

// The page of leads is a room of its own, which this one knows by its address alone.
const leadsPage = '/w/$workspaceId/leads' as '/w/$workspaceId/home'
