/** Draws a best-and-worst question: the first click is the most, the second the least. */
export default function bestWorst({ question, words, kit, moved, announce, submit }) {
  const { h, itemView, itemName } = kit;
  let best = null;
  const prompt = h("p", { class: "prompt" }, `Choose the most ${words.attribute}`);
  const choose = (item, button) => {
    if (best === item) return;
    if (best !== null) return submit({ type: "best_worst", best: best.id, worst: item.id });
    best = item;
    button.setAttribute("aria-pressed", "true");
    prompt.textContent = `Now the least ${words.attribute}`;
    moved();
    announce(`${itemName(item)} is the most ${words.attribute}.`);
  };
  const buttons = question.items.map((item) => {
    const button = h("button", { type: "button", class: "button", "data-id": item.id }, itemView(item));
    button.addEventListener("click", () => choose(item, button));
    return button;
  });
  const bindings = question.items.map((item, index) => ({ keys: [String(index + 1)], run: () => choose(item, buttons[index]) }));
  const element = h("div", { class: "card-body" }, prompt, h("div", { class: "verdicts" }, ...buttons));
  return { element, bindings, sketch: () => null, dispose: () => {} };
}
