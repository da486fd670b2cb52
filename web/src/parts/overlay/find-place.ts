// Where something that floats goes: below what opened it, above where there is no room, and always inside of the window.

const EDGE_PX = 8;
const GAP_PX = 4;

export function findPlace(popup: Size, anchor: Edges, view: Size): { readonly left: number; readonly top: number } {
  const isRoomRight = anchor.left + popup.width <= view.width - EDGE_PX;
  const below = anchor.bottom + GAP_PX;
  const above = anchor.top - GAP_PX - popup.height;
  const isRoomBelow = below + popup.height <= view.height - EDGE_PX;
  return {
    left: Math.max(EDGE_PX, isRoomRight ? anchor.left : Math.min(anchor.right, view.width - EDGE_PX) - popup.width),
    top:
      isRoomBelow || above < EDGE_PX ? Math.max(EDGE_PX, Math.min(below, view.height - EDGE_PX - popup.height)) : above,
  };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Of a rectangle, in pixels from the top left corner of the window. */
interface Edges {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}
