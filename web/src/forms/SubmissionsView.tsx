import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Form, readAllSubmissions, type Submission, useSubmissions } from '../data/forms.ts'
import { t } from '../text/index.ts'
import { saveCsv } from '../ui/csv.ts'
import { formatDateTime } from '../ui/format/time.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { MoreButton } from '../ui/page/MoreButton.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { answerColumns, answerIn } from './answers.ts'
import styles from './Submissions.module.css'

/** Submissions of a form with their answers; each has a lead. */
export function SubmissionsView({ form }: { form: Form }) {
  const workspaceId = useWorkspaceId()
  const query = useSubmissions(workspaceId, form.id)
  return (
    <PageBody>
      <QueryBoundary query={query}>
        {({ pages }) => {
          const submissions = pages.flatMap((page) => page.submissions)
          if (submissions.length === 0) return <EmptyState title={t.forms.noSubmissions} />
          return (
            <>
              <CsvButton form={form} />
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
              <div className={styles.wide} tabIndex={0}>
                <Table
                  label={t.forms.submissions}
                  columns={columns(form, submissions)}
                  rows={submissions}
                  keyOf={({ id }) => id}
                />
              </div>
              <MoreButton query={query} mt="md">
                {t.forms.older}
              </MoreButton>
            </>
          )
        }}
      </QueryBoundary>
    </PageBody>
  )
}

function columns({ fields }: Form, submissions: readonly Submission[]): Column<Submission>[] {
  return [
    { key: 'lead', title: t.forms.lead, cell: (submission) => <LeadLink submission={submission} /> },
    { key: 'when', title: t.forms.when, cell: ({ submittedAt }) => formatDateTime(submittedAt), whole: true },
    ...answerColumns(fields, submissions).map(({ key, label }) => ({
      key: `answer ${key}`,
      title: label,
      cell: (submission: Submission) => <span className={styles.answer}>{answerIn(submission, key)}</span>,
    })),
  ]
}

function CsvButton({ form }: { form: Form }) {
  const workspaceId = useWorkspaceId()
  const save = useMutation({
    mutationFn: () => readAllSubmissions(workspaceId, form.id),
    onSuccess: (all) => {
      const answers = answerColumns(form.fields, all)
      const rows = all.map((one) => [
        one.submittedAt,
        one.leadId,
        one.lead?.name ?? '',
        ...answers.map(({ key }) => answerIn(one, key)),
      ])
      saveCsv(form.slug, [[t.forms.when, t.forms.leadId, t.forms.lead, ...answers.map(({ label }) => label)], ...rows])
    },
    onError: showError,
  })
  return (
    <Button
      mb="sm"
      variant="default"
      leftSection={<IconDownload size={16} />}
      loading={save.isPending}
      onClick={() => save.mutate()}
    >
      {t.forms.csv}
    </Button>
  )
}

function LeadLink({ submission }: { submission: Submission }) {
  const workspaceId = useWorkspaceId()
  const { leadId, lead } = submission
  if (lead === null) return t.forms.leadDeleted
  return (
    <Link to={leadsPage} params={{ workspaceId }} search={{ lead: leadId } as object}>
      {lead.name}
    </Link>
  )
}

// Leads are another module, which this one may only link to.
const leadsPage = '/w/$workspaceId/leads' as '/w/$workspaceId/home'
