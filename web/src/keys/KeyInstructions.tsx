import { Button, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ApiKey } from '../data/keys.ts'
import { useVersions } from '../data/team/instructions.ts'
import { AgentPreview } from '../shared/agent/AgentPreview.tsx'
import { t } from '../text/index.ts'
import { formatNumber } from '../ui/format/time.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface KeyInstructionsProps {
  apiKey: ApiKey
  mayChange: boolean
}

/** Which instructions the key has of its own, and what it receives. */
export function KeyInstructions({ apiKey, mayChange }: KeyInstructionsProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.instructions
  const { data } = useVersions(workspaceId, { keyId: apiKey.id, connectionId: null })
  const [isPreviewing, setPreviewing] = useState(false)
  const newest = data?.versions[0]
  const own = newest?.text == null ? texts.noneOfItsOwn : texts.ofItsOwn({ n: formatNumber(newest.version) })
  return (
    <Stack gap="xs" role="group" aria-label={t.settings.agents.instructions} align="flex-start">
      <div>
        <Text size="sm" fw={500}>
          {t.settings.agents.instructions}
        </Text>
        <Text size="sm" c="dimmed">
          {data === undefined ? t.common.loading : own}
        </Text>
      </div>
      <Group gap="xs">
        <Button
          variant="default"
          renderRoot={(props) => (
            <Link
              {...props}
              to="/w/$workspaceId/settings/$section"
              params={{ workspaceId, section: 'instructions' }}
              search={{ key: apiKey.id }}
            />
          )}
        >
          {t.settings.agents.toInstructions}
        </Button>
        {mayChange && (
          <Button variant="default" onClick={() => setPreviewing(true)}>
            {texts.receives}
          </Button>
        )}
      </Group>
      {isPreviewing && <AgentPreview keys={[apiKey]} draftId={null} close={() => setPreviewing(false)} />}
    </Stack>
  )
}
