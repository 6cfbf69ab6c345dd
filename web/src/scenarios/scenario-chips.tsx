import type { ScenarioResult, ScenarioRun } from '../data/team/scenarios.ts'
import { t } from '../text/index.ts'
import { Chip, type Tone } from '../ui/Chip.tsx'

const verdictTones: Record<ScenarioResult['verdict'], Tone> = {
  waiting: 'plain',
  running: 'accent',
  passed: 'good',
  failed: 'bad',
  error: 'attention',
  skipped: 'plain',
}

export const VerdictChip = ({ verdict }: { verdict: ScenarioResult['verdict'] }) => (
  <Chip tone={verdictTones[verdict]}>{t.scenarios.verdicts[verdict]}</Chip>
)

const statusTones: Record<ScenarioRun['status'], Tone> = {
  waiting: 'attention',
  running: 'accent',
  finished: 'plain',
  cancelled: 'plain',
  interrupted: 'attention',
}

export const RunStatusChip = ({ status }: { status: ScenarioRun['status'] }) => (
  <Chip tone={statusTones[status]}>{t.scenarios.statuses[status]}</Chip>
)

/** Numbers of results by verdict, such as “28 passed · 2 failed”. */
export function countsText({ counts }: ScenarioRun): string {
  const { counted } = t.scenarios
  return (['passed', 'failed', 'error', 'running', 'waiting', 'skipped'] as const)
    .flatMap((verdict) => {
      const n = counts[verdict] ?? 0
      return n === 0 ? [] : counted[verdict]({ n })
    })
    .join(' · ')
}
