// What a task printed, in the order in which it did. A line at the side marks standard error.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { TaskInfo } from "rlm-runtime/client";
import { Button } from "../../parts/button.tsx";
import { formatBytes } from "../../parts/format.ts";
import { AnsiText } from "../../parts/rich/ansi-text.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import type { OpenTask } from "../../state/tasks/open-task.ts";
import type { OutputBlock } from "../../state/tasks/output-blocks.ts";
import { usePage } from "../../state/page.ts";
import { hasEnded } from "../../state/tasks/tasks.ts";
import styles from "./task-output-pane.module.css";

interface TaskOutputPaneProps {
  readonly task: OpenTask;
  readonly info: TaskInfo;
}

export function TaskOutputPane({ task, info }: TaskOutputPaneProps): VNode {
  const { blocks, lineCount, earlierBytes, lostBytes } = task.output.value;
  return (
    <section class={styles["output"]} aria-label="Output">
      {earlierBytes > 0 && <Earlier task={task} bytes={earlierBytes} />}
      {lostBytes > 0 && <p class={styles["note"]}>{formatBytes(lostBytes)} more were printed than the server keeps.</p>}
      <div class={styles["list"]}>
        {blocks.length === 0 ? (
          <p class={styles["none"]}>{hasEnded(info) ? "It printed nothing." : "Nothing printed so far."}</p>
        ) : (
          <VirtualList
            label="Output of the task"
            items={blocks}
            keyOf={({ key }) => key}
            estimate={estimateHeight}
            padding={12}
            overscan={2}
            total={lineCount}
            followsEnd
            render={(block) => <Block block={block} />}
          />
        )}
      </div>
    </section>
  );
}

const LINE_PX = 20;
/** More than a block can have: the list folds what is not seen, so the text need not. */
const MAX_LINES = 100_000;

/** Long lines wrap, and are measured then. */
function estimateHeight({ text, lines }: OutputBlock): number {
  return (text.endsWith("\n") ? lines : lines + 1) * LINE_PX;
}

function Block({ block: { stream, text, style } }: { readonly block: OutputBlock }): VNode {
  // The line of a list item ends by itself. A return at the end says that what follows will overwrite the line.
  const shown = style + text.replace(/\r$/, "").replace(/\n$/, "");
  if (stream !== "stderr") return <AnsiText text={shown} headLines={MAX_LINES} />;
  return (
    <div class={styles["stderr"]}>
      <span class="unseen">Standard error:</span>
      <AnsiText text={shown} headLines={MAX_LINES} />
    </div>
  );
}

function Earlier({ task, bytes }: { readonly task: OpenTask; readonly bytes: number }): VNode {
  const { notices } = usePage();
  const [isLoading, setLoading] = useState(false);
  const load = (): void => {
    setLoading(true);
    task
      .loadEarlier()
      .catch((error: unknown) => notices.failed("load the output", error))
      .finally(() => setLoading(false));
  };
  return (
    <div class={styles["note"]}>
      <span class="figures">{formatBytes(bytes)} before this</span>
      <Button kind="quiet" disabled={isLoading} onClick={load}>
        Load more of it
      </Button>
    </div>
  );
}
