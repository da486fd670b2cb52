// What stands where there is no task: how to make one.

import type { VNode } from "preact";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { CommandLine } from "../../parts/feedback/copy.tsx";
import { usePage } from "../../state/page.ts";

export function NoTasks({ onStart }: { readonly onStart: () => void }): VNode {
  const hasShell = usePage().connection.info.value?.capabilities.shell !== false;
  if (!hasShell) {
    return (
      <Empty title="No tasks">
        <p>Sessions of this environment have no shell. Executions and runs that outlive their call are listed here.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No tasks yet">
      <p>
        A task is a shell command in the working directory of a session. Start one here, or from a terminal; it is shown
        here while it runs, and for an hour after it has ended.
      </p>
      <Button kind="main" onClick={onStart}>
        Run a command
      </Button>
      <CommandLine command="rlm tasks start -- 'for n in 1 2 3; do date; sleep 1; done'" />
      <CommandLine command="rlm tasks list" />
      <CommandLine command="rlm tasks output ID --follow" />
    </Empty>
  );
}

interface NothingFitsProps {
  readonly onClear: () => void;
  readonly isFiltered: boolean;
}

export function NothingFits({ onClear, isFiltered }: NothingFitsProps): VNode {
  const { router } = usePage();
  const { path } = router.route.value;
  const showAll = (): void => {
    onClear();
    if (isFiltered) router.go({ place: "tasks", path });
  };
  return (
    <Empty title="No task fits the filter">
      <Button onClick={showAll}>Show all tasks</Button>
    </Empty>
  );
}
