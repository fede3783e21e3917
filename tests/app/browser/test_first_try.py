"""A first try in Chromium: the example of the first screen, and three epsilons side by side."""

from __future__ import annotations

from playwright.sync_api import expect

import dpheatmap as dph
from helpers.visits import Visit, next_step


def test_the_example_leads_from_the_first_screen_to_a_map(visit: Visit) -> None:
    page = visit.page
    expect(page.locator(".example")).to_contain_text("They do not exist, and neither does their city")
    visit.judge()
    page.get_by_role("button", name="Try it with invented people").click()
    visit.heading("What the app makes of it")
    next_step(visit, "Choose the place")
    expect(page.locator(".about-place")).to_contain_text("The largest town in it is Bern.")
    next_step(visit, "How strongly to protect people")
    expect(page.get_by_label("About how many people")).to_have_value("5000")
    next_step(visit, "What it costs, and release")
    expect(page.get_by_label("Who are these people?")).to_have_value("invented people")
    page.get_by_role("button", name="Release for epsilon 1").click()
    page.wait_for_selector(".map-frame[data-ready=first]")
    expect(page.locator(".map-frame h1")).to_have_text("Where invented people are")
    assert list(dph.Ledger(visit.served.ledger).accounts()) == ["invented people"]

    page.get_by_role("link", name="New map").click()
    page.get_by_role("button", name="Try it with invented people").click()
    visit.heading("What the app makes of it")
    page.evaluate("location.hash = 'release'")
    page.get_by_role("button", name="Release for epsilon 1").click()
    expect(page.locator(".outcome")).to_contain_text("Nothing was charged.")


def test_three_epsilons_stand_side_by_side(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("button", name="Try it with invented people").click()
    visit.heading("What the app makes of it")
    page.evaluate("location.hash = 'strength'")
    page.wait_for_selector(".previews[data-ready='1']:not([aria-busy])")
    captions = page.locator(".previews figcaption")
    expect(captions).to_have_text(
        [
            "Generated people as they are",
            "Epsilon 0.2: protects more, shows less",
            "Epsilon 1: your choice",
            "Epsilon 5: protects less, shows more",
        ]
    )
    tops = {round(box["y"]) for figure in page.locator(".previews img").all() if (box := figure.bounding_box())}
    assert len(tops) == 1, "in one row"
    assert len({figure.get_attribute("src") for figure in page.locator(".previews img").all()}) == 4
    visit.judge()


def test_what_the_slider_has_left_behind_is_not_drawn(visit: Visit) -> None:
    """Each further value ends the questions about the one before; the pictures are those of the last."""
    page = visit.page
    page.get_by_role("button", name="Try it with invented people").click()
    visit.heading("What the app makes of it")
    ended: list[str] = []
    page.on("requestfailed", lambda asked: ended.append(asked.post_data or ""))
    page.route(
        "**/api/preview",
        lambda route: None if '"epsilon":"2"' in (route.request.post_data or "") else route.continue_(),
    )
    page.evaluate("location.hash = 'strength'")
    page.get_by_label("Epsilon", exact=True).fill("2")
    with page.expect_request("**/api/preview"):
        pass
    page.get_by_label("Epsilon", exact=True).fill("0.5")
    page.wait_for_selector(".previews[data-ready='0.5']:not([aria-busy])")
    assert any('"epsilon":"2"' in body for body in ended), "it was not waited for any more"
    expect(page.locator(".previews figcaption").nth(2)).to_have_text("Epsilon 0.5: your choice")
    page.get_by_role("link", name="Shelf").click()
    visit.heading("The shelf")
    visit.said = [said for said in visit.said if "ERR_ABORTED" not in said and "Failed to load" not in said]
