import { Button, Checkbox, Group, Stack, Textarea } from '@mantine/core'
import { useMemo, useState } from 'react'
import { usePeople } from '../../data/people.ts'
import {
  type Criterion,
  type Review,
  type ReviewFlag,
  skipReview,
  submitReview,
  useReviewSettings,
} from '../../data/team/reviews.ts'
import { currentUser } from '../../session/session.ts'
import { criterionName } from '../../shared/criterion-name.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatNumber } from '../../ui/format/time.ts'
import { showToast } from '../../ui/overlay/toasts.tsx'
import { Facts } from '../../ui/page/Facts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Segments } from '../../ui/page/Segments.tsx'
import { ShortcutHint, ShortcutsQueued, useShortcuts } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useBusy } from '../parts/use-busy.ts'
import styles from './QueuePage.module.css'

interface ScorecardProps {
  review: Review
  /** After it was submitted or skipped. */
  done(): void
}

/** Scores, what was wrong, and a comment. */
export function Scorecard({ review, done }: ScorecardProps) {
  const workspaceId = useWorkspaceId()
  const people = usePeople(workspaceId)
  const settings = useReviewSettings(workspaceId)
  const isOpen = review.status === 'waiting' || review.reviewedBy === currentUser().id
  const facts = known([
    [t.review.agent, people.nameOf(review.keyId) ?? ''],
    [t.review.outcome, t.review.outcomes[review.outcome]],
    [t.review.began, review.startedAt && formatDateTime(review.startedAt)],
    [t.review.ended, formatDateTime(review.endedAt)],
    [t.review.why, review.reasons.map((reason) => t.review.reasons[reason]).join(', ')],
    [t.review.by, review.reviewedBy && (people.nameOf(review.reviewedBy) ?? '')],
  ])
  return (
    <aside className={styles.card} aria-label={t.review.scorecard}>
      <Facts facts={facts} />
      {settings.data === undefined && <ShortcutsQueued />}
      <QueryBoundary query={settings} rows={4}>
        {({ criteria }) =>
          isOpen && review.status !== 'skipped' ? (
            <ScoreForm review={review} criteria={criteria} done={done} />
          ) : (
            <Verdict review={review} criteria={criteria} />
          )
        }
      </QueryBoundary>
    </aside>
  )
}

/** What someone else decided. */
function Verdict({ review, criteria }: { review: Review; criteria: readonly Criterion[] }) {
  const flags = review.flags.map((flag) => t.review.flags[flag])
  const scoreOf = ({ id, steps }: Criterion): string | null => {
    const step = review.scores[id]
    return step === undefined ? null : `${formatNumber(step)} / ${formatNumber(steps)}`
  }
  const facts = known([
    ...criteria.map((one): MaybeFact => [criterionName(one), scoreOf(one)]),
    [t.review.wrong, flags.length === 0 ? null : flags.join(', ')],
    [t.review.comment, review.comment],
  ])
  return <Facts facts={facts} />
}

type MaybeFact = [name: string, value: string | null]

const known = (facts: readonly MaybeFact[]): MaybeFact[] => facts.filter(([, value]) => value !== null)

interface ScoreFormProps extends ScorecardProps {
  criteria: readonly Criterion[]
}

function ScoreForm({ review, criteria, done }: ScoreFormProps) {
  const workspaceId = useWorkspaceId()
  const [scores, setScores] = useState(review.scores)
  const [flags, setFlags] = useState<readonly ReviewFlag[]>(review.flags)
  const [comment, setComment] = useState(review.comment ?? '')
  const [isBusy, run] = useBusy()
  const current = criteria.find(({ id }) => scores[id] === undefined)
  const close = (task: () => Promise<unknown>, words: string) =>
    void run(async () => {
      await task()
      showToast(words)
      done()
    })
  // Scores of criteria that were removed meanwhile are left out.
  const valid = Object.fromEntries(Object.entries(scores).filter(([id]) => criteria.some((one) => one.id === id)))
  const canSubmit = Object.keys(valid).length > 0 && !isBusy
  const submit = () =>
    canSubmit &&
    close(() => submitReview(workspaceId, review.id, { scores: valid, flags: [...flags], comment }), t.review.submitted)
  const skip = () => close(() => skipReview(workspaceId, review.id), t.review.skipped)
  const set = (id: string, step: number) => setScores((before) => ({ ...before, [id]: step }))
  useScoreKeys({ current, set, submit, skip: review.status === 'waiting' ? skip : null })
  return (
    <Stack gap="sm" mt="md">
      {criteria.map((criterion) => (
        <fieldset key={criterion.id} className={styles.score} data-current={criterion === current || undefined}>
          <legend>
            {criterionName(criterion)}
            {criterion === current && <ShortcutHint keys={`1–${criterion.steps}`} />}
          </legend>
          <div className={styles.step}>
            <Segments
              label={criterionName(criterion)}
              data={stepsOf(criterion).map((step) => ({ value: String(step), label: formatNumber(step) }))}
              value={String(scores[criterion.id] ?? '')}
              onChange={(step) => set(criterion.id, Number(step))}
              isWide
            />
          </div>
        </fieldset>
      ))}
      <Checkbox.Group label={t.review.wrong} value={[...flags]} onChange={(chosen) => setFlags(chosen as ReviewFlag[])}>
        <Stack gap={6} mt={6}>
          {(Object.keys(t.review.flags) as ReviewFlag[]).map((flag) => (
            <Checkbox key={flag} value={flag} label={t.review.flags[flag]} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Textarea
        label={t.review.comment}
        description={t.review.commentHelp}
        value={comment}
        maxLength={4000}
        autosize
        minRows={2}
        maxRows={8}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
      <Group gap="sm">
        <Button
          onClick={submit}
          disabled={!canSubmit}
          loading={isBusy}
          rightSection={<ShortcutHint keys="mod+Enter" />}
        >
          {t.review.submit}
        </Button>
        {review.status === 'waiting' && (
          <Button variant="default" onClick={skip} disabled={isBusy} rightSection={<ShortcutHint keys="x" />}>
            {t.review.skip}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

const stepsOf = ({ steps }: Criterion): number[] => Array.from({ length: steps }, (_, n) => n + 1)

interface ScoreKeys {
  /** The first criterion without a score. */
  current: Criterion | undefined
  set(id: string, step: number): void
  submit(): void
  skip: (() => void) | null
}

/** Number keys score one criterion after the other. */
function useScoreKeys({ current, set, submit, skip }: ScoreKeys): void {
  useShortcuts(
    t.review.scorecard,
    useMemo(
      () => [
        ...(current === undefined
          ? []
          : stepsOf(current).map((step) => ({
              keys: String(step),
              label: t.review.scoreKey({ name: criterionName(current), step }),
              run: () => set(current.id, step),
            }))),
        { keys: 'mod+Enter', label: t.review.submit, run: submit, inFields: true },
        ...(skip === null ? [] : [{ keys: 'x', label: t.review.skip, run: skip }]),
      ],
      [current, set, submit, skip],
    ),
  )
}
