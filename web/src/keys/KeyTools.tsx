import { Button, Checkbox, SimpleGrid, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ApiKey, changeKey, useInvalidateKeys } from '../data/keys.ts'
import { useAgentTools } from '../data/team/instructions.ts'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface KeyToolsProps {
  apiKey: ApiKey
  mayChange: boolean
}

/** Tools that the permissions of the key allow: each can be switched off. */
export function KeyTools({ apiKey, mayChange }: KeyToolsProps) {
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateKeys(workspaceId)
  const { data: tools = [] } = useAgentTools(workspaceId)
  const draft = useDraft({ toolsOff: apiKey.toolsOff })
  const { toolsOff } = draft.value
  const change = useMutation({
    mutationFn: () => changeKey(workspaceId, apiKey.id, { toolsOff }),
    onSuccess: async ({ key }) => {
      draft.reset({ toolsOff: key.toolsOff })
      showToast(t.keys.toolsSaved)
      await changed()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const allowed = tools.filter(({ canBeOff, scopes }) => canBeOff && scopes.some((one) => apiKey.scopes.includes(one)))
  const names = allowed.map(({ name }) => name)
  // Tools that other permissions would allow stay as they are.
  const setOn = (on: readonly string[]) =>
    draft.set({
      toolsOff: [...toolsOff.filter((name) => !names.includes(name)), ...names.filter((name) => !on.includes(name))],
    })
  if (allowed.length === 0) return null
  return (
    <Stack gap="sm" align="flex-start" role="group" aria-label={t.keys.tools}>
      <Checkbox.Group
        label={t.keys.tools}
        description={t.keys.toolsHelp}
        value={names.filter((name) => !toolsOff.includes(name))}
        onChange={setOn}
        w="100%"
      >
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={6} mt={6}>
          {names.map((name) => (
            <Checkbox key={name} value={name} label={<code>{name}</code>} disabled={!mayChange} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      {mayChange && (
        <Button
          variant="default"
          disabled={!draft.isChanged}
          loading={change.isPending}
          onClick={() => change.mutate()}
        >
          {t.common.save}
        </Button>
      )}
    </Stack>
  )
}
