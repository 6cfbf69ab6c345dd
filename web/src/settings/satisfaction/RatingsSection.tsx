import { Button, Group, Select } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { usePeopleLists } from '../../data/people.ts'
import { type ListedRating, type RatingFilter, useRatings } from '../../data/team/satisfaction.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatNumber } from '../../ui/format/time.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { Facts } from '../../ui/page/Facts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { Table } from '../../ui/page/Table.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

const scores = ['5', '4', '3', '2', '1']

/** What customers answered, with a summary of the last days. */
export function RatingsSection() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.satisfaction
  const [filter, setFilter] = useState<RatingFilter>({ score: '', who: '' })
  const query = useRatings(workspaceId, filter)
  return (
    <Section title={texts.ratings} help={texts.ratingsHelp}>
      <Filters filter={filter} change={setFilter} />
      <QueryBoundary query={query} rows={4}>
        {({ pages }) => {
          const ratings = pages.flatMap((page) => page.ratings)
          const summary = pages[0]?.summary
          return (
            <>
              {summary !== undefined && (
                <Facts
                  facts={[
                    [texts.asked({ days: summary.days }), formatNumber(summary.asked)],
                    [texts.answered, formatNumber(summary.rated)],
                    [
                      texts.average,
                      summary.average === null
                        ? '–'
                        : formatNumber(summary.average, { style: 'percent', maximumFractionDigits: 0 }),
                    ],
                  ]}
                />
              )}
              {ratings.length === 0 ? <EmptyState title={texts.empty} /> : <RatingTable ratings={ratings} />}
            </>
          )
        }}
      </QueryBoundary>
      {query.hasNextPage && (
        <Button variant="default" onClick={() => void query.fetchNextPage()} loading={query.isFetchingNextPage}>
          {t.settings.audit.older}
        </Button>
      )}
    </Section>
  )
}

function Filters({ filter, change }: { filter: RatingFilter; change(filter: RatingFilter): void }) {
  const texts = t.settings.satisfaction
  const { data } = usePeopleLists(useWorkspaceId())
  const { members = [], keys = [] } = data ?? {}
  const who = [
    ...members.map(({ id, name }) => ({ value: `user:${id}`, label: name })),
    ...keys.map(({ id, name }) => ({ value: `agent:${id}`, label: name })),
  ]
  return (
    <Group align="end">
      <Select
        label={texts.score}
        w={140}
        clearable
        data={scores}
        value={filter.score || null}
        onChange={(score) => change({ ...filter, score: score ?? '' })}
      />
      <Select
        label={texts.answeredBy}
        w={240}
        clearable
        searchable
        data={who}
        value={filter.who || null}
        onChange={(one) => change({ ...filter, who: one ?? '' })}
      />
    </Group>
  )
}

function RatingTable({ ratings }: { ratings: readonly ListedRating[] }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.satisfaction
  return (
    <Table
      label={texts.ratings}
      rows={ratings}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'customer',
          title: texts.customer,
          cell: ({ conversationId, name }) => (
            <Link to="/w/$workspaceId/inbox/{-$conversationId}" params={{ workspaceId, conversationId }}>
              {name ?? t.common.unknown}
            </Link>
          ),
        },
        { key: 'score', title: texts.score, whole: true, cell: ({ score, scale }) => texts.scoreOf({ score, scale }) },
        {
          key: 'comment',
          title: texts.comment,
          long: true,
          cell: ({ comment }) => <span dir="auto">{comment ?? ''}</span>,
        },
        {
          key: 'who',
          title: texts.answeredBy,
          optional: true,
          cell: ({ answeredBy }) => answeredBy.name ?? t.common.unknown,
        },
        { key: 'at', title: t.settings.audit.when, optional: true, cell: ({ ratedAt }) => formatDateTime(ratedAt) },
      ]}
    />
  )
}
