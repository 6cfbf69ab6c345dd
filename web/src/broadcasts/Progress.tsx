import { Button, Select } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type Broadcast, exportUrl, type Recipient, useRecipients } from '../data/outreach/broadcasts.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { type Figure, Figures } from '../ui/charts/Figures.tsx'
import { formatCost } from '../ui/format/cost.ts'
import { formatDateTime, formatNumber, formatPercent } from '../ui/format/time.ts'
import { Facts } from '../ui/page/Facts.tsx'
import { MoreButton } from '../ui/page/MoreButton.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Section, SectionTitle } from '../ui/page/Section.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Broadcasts.module.css'
import { reasonName, sentTotals } from './parts.tsx'

/** How far a broadcast is, and what it has led to. */
export function Progress({ broadcast }: { broadcast: Broadcast }) {
  const texts = t.broadcasts
  const { state, reason, results, counts, startAt, localAt, variants } = broadcast
  const totals = sentTotals(broadcast)
  const total = counts?.included ?? 0
  const done = totals.accepted + totals.failed + totals.skipped
  const why: Record<string, string> = texts.pauseReasons
  return (
    <SectionTitle value="h2">
      {reason !== null && <p className={styles.notice}>{why[reason] ?? texts.otherReason({ code: reason })}</p>}
      {state === 'scheduled' && startAt !== null && (
        <p className={styles.notice}>
          {localAt === null
            ? texts.startsAt({ time: formatDateTime(startAt) })
            : texts.startsLocal({ time: formatDateTime(startAt) })}
        </p>
      )}
      <progress className={styles.bar} value={done} max={Math.max(total, 1)} aria-label={texts.progress} />
      <Figures figures={figuresOf(totals, total)} />
      {variants.length > 1 && results !== null && (
        <Section title={texts.compare}>
          <Table
            label={texts.compare}
            columns={variantColumns(broadcast)}
            rows={results.variants}
            keyOf={(row) => `${results.variants.indexOf(row)}`}
          />
        </Section>
      )}
      <Section title={texts.details}>
        <Facts
          facts={[
            ...(results?.reasons ?? []).map((one) => [reasonName(one.reason), formatNumber(one.count)] as const),
            ...Object.entries(counts?.excluded ?? {}).map(
              ([name, count]) => [texts.leftOut({ reason: reasonName(name) }), formatNumber(count)] as const,
            ),
            ...(results?.cost == null
              ? []
              : [[texts.cost, formatCost(results.cost.amount, results.cost.currency)] as const]),
          ]}
        />
      </Section>
      <Recipients broadcast={broadcast} />
    </SectionTitle>
  )
}

type Totals = ReturnType<typeof sentTotals>

function figuresOf(totals: Totals, total: number): Figure[] {
  const texts = t.broadcasts
  const share = (n: number, of: number) => (of === 0 ? '' : formatPercent(n / of, 1))
  const { accepted } = totals
  return [
    {
      name: texts.figures.accepted,
      value: formatNumber(accepted),
      note: texts.ofTotal({ n: formatNumber(accepted), total: formatNumber(total) }),
    },
    ...(['delivered', 'read', 'answered', 'optedOut', 'failed'] as const).map((name) => ({
      name: texts.figures[name],
      value: formatNumber(totals[name]),
      note: share(totals[name], name === 'failed' ? accepted + totals.failed : accepted),
    })),
  ]
}

type VariantResult = NonNullable<Broadcast['results']>['variants'][number]

function variantColumns({ variants, results }: Broadcast): Column<VariantResult>[] {
  const texts = t.broadcasts
  const name = (row: VariantResult) => {
    const n = results?.variants.indexOf(row) ?? 0
    return `${n + 1}. ${variants[n]?.template.name.replaceAll('_', ' ') ?? ''}`
  }
  const share = (n: number, { accepted }: VariantResult) =>
    accepted === 0 ? '0' : `${formatNumber(n)} (${formatPercent(n / accepted, 1)})`
  return [
    { key: 'name', title: texts.template, cell: name },
    {
      key: 'accepted',
      title: texts.figures.accepted,
      numeric: true,
      optional: true,
      cell: (row) => formatNumber(row.accepted),
    },
    ...(['read', 'answered', 'optedOut'] as const).map((figure) => ({
      key: figure,
      title: texts.figures[figure],
      numeric: true,
      ...(figure === 'optedOut' && { optional: true }),
      cell: (row: VariantResult) => share(row[figure], row),
    })),
  ]
}

const statuses = ['pending', 'sending', 'sent', 'delivered', 'read', 'failed', 'skipped', 'excluded'] as const

function Recipients({ broadcast }: { broadcast: Broadcast }) {
  const texts = t.broadcasts
  const workspaceId = useWorkspaceId()
  const [status, setStatus] = useState<Recipient['status'] | null>(null)
  const query = useRecipients(workspaceId, broadcast.id, status)
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.recipients) ?? [], [query.data])
  return (
    <Section
      title={texts.recipients}
      action={
        hasRole(workspaceId, 'admin') && (
          <Button
            component="a"
            href={exportUrl(workspaceId, broadcast.id)}
            download
            variant="default"
            leftSection={<IconDownload size={16} />}
          >
            {texts.export}
          </Button>
        )
      }
    >
      <Select
        aria-label={texts.status}
        placeholder={texts.everyone}
        clearable
        data={statuses.map((value) => ({ value, label: texts.statuses[value] }))}
        value={status}
        onChange={(value) => setStatus(value as Recipient['status'] | null)}
      />
      <QueryBoundary query={query}>
        {() => (
          <Table
            label={texts.recipients}
            columns={recipientColumns(workspaceId, broadcast)}
            rows={rows}
            keyOf={({ id }) => id}
          />
        )}
      </QueryBoundary>
      <MoreButton query={query}>{texts.more}</MoreButton>
    </Section>
  )
}

const recipientColumns = (workspaceId: string, { variants }: Broadcast): Column<Recipient>[] => [
  {
    key: 'name',
    title: t.broadcasts.recipient,
    cell: ({ name, leadId, conversationId }) => (
      <Link to={`/w/${workspaceId}/${conversationId === null ? `leads/${leadId}` : `inbox/${conversationId}`}` as '/'}>
        {name || t.common.unknown}
      </Link>
    ),
  },
  {
    key: 'status',
    title: t.broadcasts.status,
    cell: ({ status, reason }) =>
      reason === null ? t.broadcasts.statuses[status] : `${t.broadcasts.statuses[status]}: ${reasonName(reason)}`,
    long: true,
  },
  ...(variants.length > 1
    ? [
        {
          key: 'variant',
          title: t.broadcasts.template,
          cell: ({ variant }: Recipient) => formatNumber(variant + 1),
          optional: true,
        },
      ]
    : []),
  {
    key: 'answered',
    title: t.broadcasts.figures.answered,
    cell: ({ answeredAt }) => (answeredAt === null ? '' : formatDateTime(answeredAt)),
    optional: true,
  },
]
