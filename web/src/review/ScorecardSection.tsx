import { ActionIcon, Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type Criterion, changeReviewSettings, type ReviewSettings } from '../data/team/reviews.ts'
import { criterionName } from '../shared/criterion-name.ts'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

const maxCriteria = 6

/** A criterion while it is edited; `key` identifies its row. */
interface Row {
  key: string
  id: string | null
  name: string
  steps: Criterion['steps']
}

const rowsOf = (criteria: readonly Criterion[]): Row[] =>
  criteria.map((one) => ({ key: one.id, id: one.id, name: criterionName(one), steps: one.steps }))

/** What reviewers score. */
export function ScorecardSection({ settings }: { settings: ReviewSettings }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const draft = useDraft({ criteria: rowsOf(settings.criteria) })
  const rows = draft.value.criteria
  const save = useMutation({
    mutationFn: () =>
      changeReviewSettings(queries, workspaceId, { criteria: rows.map((row) => criterionOf(row, settings.criteria)) }),
    onSuccess: ({ criteria }) => {
      draft.reset({ criteria: rowsOf(criteria) })
      showToast(t.review.saved)
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const change = (key: string, changes: Partial<Row>) =>
    draft.set({ criteria: rows.map((row) => (row.key === key ? { ...row, ...changes } : row)) })
  const add = () => draft.set({ criteria: [...rows, { key: crypto.randomUUID(), id: null, name: '', steps: 5 }] })
  return (
    <Section
      title={t.review.scorecard}
      help={t.review.scorecardHelp}
      submit={() => save.mutate()}
      footer={
        <Button type="submit" loading={save.isPending} disabled={!draft.isChanged}>
          {t.common.save}
        </Button>
      }
    >
      <Stack gap="sm">
        {rows.map((row, n) => (
          <CriterionRow
            key={row.key}
            row={row}
            n={n + 1}
            error={draft.issueAt(`criteria.${n}.name`)}
            change={(changes) => change(row.key, changes)}
            remove={rows.length === 1 ? null : () => draft.set({ criteria: rows.filter(({ key }) => key !== row.key) })}
          />
        ))}
        {rows.length < maxCriteria && (
          <Button variant="default" onClick={add} style={{ alignSelf: 'flex-start' }}>
            {t.review.addCriterion}
          </Button>
        )}
      </Stack>
    </Section>
  )
}

interface CriterionRowProps {
  row: Row
  n: number
  error: string | undefined
  change(changes: Partial<Row>): void
  /** Null: the last one stays. */
  remove: (() => void) | null
}

function CriterionRow({ row, n, error, change, remove }: CriterionRowProps) {
  return (
    <Group align="end" wrap="nowrap" gap="sm">
      <TextInput
        style={{ flex: 1 }}
        label={t.review.criterion({ n })}
        value={row.name}
        maxLength={80}
        error={error}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <Select
        w={90}
        label={t.review.steps}
        data={['3', '5']}
        value={String(row.steps)}
        onChange={(value) => change({ steps: value === '3' ? 3 : 5 })}
        allowDeselect={false}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        disabled={remove === null}
        aria-label={t.review.removeCriterion({ n })}
        onClick={() => remove?.()}
      >
        <IconTrash size={16} />
      </ActionIcon>
    </Group>
  )
}

/** A default criterion keeps its translated name until someone writes another. */
function criterionOf({ id, name, steps }: Row, before: readonly Criterion[]) {
  const same = before.find((one) => one.id === id)
  const isDefault = same?.name === null && same.steps === steps && criterionName(same) === name
  return { ...(same !== undefined && { id: same.id }), name: isDefault ? null : name, steps }
}
